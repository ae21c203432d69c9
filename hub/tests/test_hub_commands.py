"""`cw hub` among the commands of `cw`: quick, explained, and completed by shells."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cw.cli import COMMANDS, main
from cw.cli.groups import LazyGroup
from cw_hub.cli import hub
from tests.cli.test_commands import is_explained, listed, says_otherwise
from tests.cli.test_completion import completed
from tests.cli.test_imports import loaded
from tests.tools import BASH


def test_the_help_of_the_hub_explains_it() -> None:
    is_explained("hub")


def test_lists_of_commands_say_of_the_hub_what_its_own_help_says() -> None:
    assert isinstance(main, LazyGroup)
    assert isinstance(hub, LazyGroup)
    commands = list(listed(hub))
    assert len(commands) > 10
    assert says_otherwise([("hub", COMMANDS["hub"].sentence, hub), *commands]) == []


def test_the_help_of_the_hub_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    assert loaded("hub --help", tmp_path) <= {"click", "cw_hub"}


@pytest.mark.thorough
@BASH.unless(shutil.which("bash"))
def test_bash_completes_commands_of_the_hub(tmp_path: Path) -> None:
    assert completed("cw hub backup li", tmp_path) == ["list"]
