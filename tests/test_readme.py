"""The lines of the README are typed one after the other, as a new user types them."""

from __future__ import annotations

import os
import re
from itertools import chain

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw_hub.operation.environment import declared, variable
from tests.tools import MAKE
from tests.typed import Terminal, Typed, parts, typed

PARTS = parts("README.md")
DEPLOYING = parts("hub/docs/deploy.md")["In short"]
DEPLOYED = re.findall(r"^    (?:CW_\w+=\S+ )*cw ((?:\S+ )*\S+)(?:  .*)?$", DEPLOYING, re.M)


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="the lines are for the shells of Linux and macOS")
def test_each_line_of_the_readme_works_after_the_one_before(terminal: Terminal) -> None:
    MAKE.program("make")
    terminal.type(Typed("make demo", ()))
    outputs = [terminal.type(one) for one in chain.from_iterable(map(typed, PARTS.values()))]
    printed = "\n".join(chain.from_iterable(outputs))
    assert re.search(r"^You (won|lost)\.$", printed, re.M), printed
    assert "paint, seed" in printed
    assert (terminal.folder / "results" / "report" / "index.html").is_file()


@pytest.mark.parametrize("line", DEPLOYED)
def test_each_command_of_a_deployed_hub_is_there(line: str) -> None:
    result = CliRunner().invoke(main, [*line.split(), "--help"])
    assert result.exit_code == 0, result.output
    options = re.findall(r"--[a-z-]+", result.output)
    assert set(re.findall(r"--[a-z-]+", line)) <= set(options)


def test_the_commands_of_a_deployed_hub_are_found() -> None:
    assert len(DEPLOYED) == 6
    settings = re.findall(r"\bCW_[A-Z_]+", DEPLOYING)
    assert set(settings) == {"CW_PUBLIC_URL", "CW_TRUSTED_PROXY"} <= {*map(variable, declared())}
