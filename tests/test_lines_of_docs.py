"""The lines of the documents that call `cw` are taken by it, and print what stands below them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cw import kits
from tests.commands import help_texts
from tests.interpreter import write_cw
from tests.lines_of_docs import Example, calls_in, examples, is_of_the_hub, try_options, typed
from tests.test_docs import EVERY_COMMAND, TEXTS
from tests.typed import ROOT, shape

CALLS = calls_in((*TEXTS.values(), *help_texts(EVERY_COMMAND)))


@pytest.mark.parametrize("call", [call for call in CALLS if not is_of_the_hub(call)])
def test_each_call_has_a_command_that_takes_its_options(call: str) -> None:
    try_options(call)


EXAMPLES = list(examples(TEXTS))

ELSEWHERE = {
    "python learn.py": "a program of its own page",
    "cw replay verify battle.json": "a file in the format of the game, forged",
}
"""What examples need that this desk does not have."""


def is_elsewhere(example: Example) -> bool:
    return any(example.command.startswith(start) for start in ELSEWHERE)


COMMANDS = ROOT / "docs" / "commands.md"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the examples take for granted: bots, and the replay of a match."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "bin").mkdir()
    write_cw(folder / "bin" / "cw", is_patient=True)
    kits.new_bot("paint", "python", folder / "paint")
    kits.new_bot("hexagon", "python", folder / "hexagon")
    (agent,) = re.findall(r"^```python\n(# agent.py\n.*?)^```", TEXTS[COMMANDS], re.M | re.S)
    (folder / "agent.py").write_text(agent, encoding="utf-8")
    for file in (folder / "paint").iterdir():
        file.rename(folder / file.name)
    typed(folder, "cw play paint a=builtin:greedy ./bot.py --seed 1 --out match.json.gz")
    return folder


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="the lines are for a shell")
@pytest.mark.parametrize(
    "example", [one for one in EXAMPLES if not is_elsewhere(one)], ids=lambda one: one.command
)
def test_an_example_prints_what_it_shows(example: Example, desk: Path) -> None:
    printed = set(map(shape, typed(desk, example.command).splitlines()))
    assert set(map(shape, example.lines)) <= printed


def test_examples_that_are_elsewhere_are_there() -> None:
    for start in ELSEWHERE:
        assert any(example.command.startswith(start) for example in EXAMPLES), start
