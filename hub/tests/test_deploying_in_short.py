"""The commands that the page about deploying shows first are there, with their options."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw_hub.operation.settings import declared, variable
from tests.typed import parts

DEPLOYING = parts("hub/docs/deploy.md")["In short"]
DEPLOYED = re.findall(r"^    (?:CW_\w+=\S+ )*cw ((?:\S+ )*\S+)(?:  .*)?$", DEPLOYING, re.M)


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
