"""The workflow of docs/ci-of-a-bot.md: its commands are typed, and its exit codes are relied on."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.documented import programs
from tests.typed import Terminal, Typed, parts, typed

PAGE = Path("docs/ci-of-a-bot.md")
TEXT = (Path(__file__).resolve().parents[1] / PAGE).read_text(encoding="utf-8")
INSTALL, *COMMANDS = re.findall(r"^ +- run: (.+)$", TEXT, re.M)

BETTER = next(
    one for one in typed(parts("docs/first-bot.md")["Paint"]) if "> bot.py" in one.command
)
"""Writes a bot that beats random."""


@pytest.fixture
def repository(terminal: Terminal) -> Path:
    """Return the folder of a bot, where the terminal works; the arena is installed."""
    assert INSTALL.startswith("pip install ")
    for command in (". .venv/bin/activate", "cw new-bot paint python mine", "cd mine"):
        terminal.type(Typed(command, ()))
    terminal.type(BETTER)
    return terminal.folder / "mine"


@pytest.mark.skipif(os.name != "posix", reason="the workflow is for a shell")
def test_the_workflow_passes_for_a_good_bot(terminal: Terminal, repository: Path) -> None:
    for command in COMMANDS:
        terminal.type(Typed(command, ()))
    assert "<testcase" in (repository / "check.xml").read_text("utf-8")
    assert len(list((repository / "replays").glob("*.json.gz"))) == 10
    (repository / "enough.py").write_text(programs(PAGE.name)["enough.py"])
    for one in typed(re.sub(r"^```(yaml|python)\n.*?^```$", "", TEXT, flags=re.M | re.S)):
        terminal.type(one)


@pytest.mark.skipif(os.name != "posix", reason="the workflow is for a shell")
def test_the_exit_codes_are_those_of_the_page(terminal: Terminal, repository: Path) -> None:
    checks, plays = (re.sub(r"bot\.py", "{}", command) for command in COMMANDS)
    (repository / "bad.py").write_text("import numbskull\n")
    (repository / "rude.py").write_text("import sys\nfor line in sys.stdin:\n    print('hello')\n")
    for command, code in (
        (checks.format("bad.py"), 1),
        (checks.format("rude.py"), 1),
        (checks.format("nowhere.py"), 2),
        (plays.format("bad.py"), 1),
        (plays.format("nowhere.py"), 2),
        (plays.format("bot.py --option nothing=1"), 2),
    ):
        assert terminal.run(Typed(command, ()))[0] == code, command
