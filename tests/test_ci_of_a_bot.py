"""The workflow of docs/lab.md: its commands are typed, and its exit codes are relied on."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw.games.paint import protocol
from cw.kits import new_bot
from tests.typed import Terminal, Typed, parts, typed

TEXT = parts("docs/lab.md")["CI of a bot"]
INSTALL, *COMMANDS = re.findall(r"^ +- run: (.+)$", TEXT, re.M)

BETTER = next(
    one for one in typed(parts("docs/first-bot.md")["Paint"]) if "> bot.py" in one.command
)
"""Writes a bot that beats random."""


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="the workflow is for a shell")
def test_the_workflow_passes_for_a_good_bot(terminal: Terminal) -> None:
    assert INSTALL.startswith("pip install ")
    for command in (". .venv/bin/activate", "cw new-bot paint python mine", "cd mine"):
        terminal.type(Typed(command, ()))
    terminal.type(BETTER)
    repository = terminal.folder / "mine"
    for command in COMMANDS:
        terminal.type(Typed(command, ()))
    assert "<testcase" in (repository / "check.xml").read_text("utf-8")
    assert len(list((repository / "replays").glob("*.json.gz"))) == 10
    terminal.type(Typed("cw new-bot paint python best", ()))
    for one in typed(re.sub(r"^```yaml\n.*?^```$", "", TEXT, flags=re.M | re.S)):
        terminal.type(one)


def test_the_exit_codes_are_those_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A bot that never says that it is ready is awaited no longer than needed.
    monkeypatch.setattr(protocol, "READY", protocol.READY._replace(seconds=0.5))
    new_bot("paint", "python", tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    Path("bad.py").write_text("import numbskull\n")
    Path("rude.py").write_text("import sys\nfor line in sys.stdin:\n    print('hello')\n")
    checks, plays = (re.sub(r"bot\.py", "{}", command) for command in COMMANDS)
    for command, code in (
        (checks.format("bad.py"), 1),
        (checks.format("rude.py"), 1),
        (checks.format("nowhere.py"), 2),
        (plays.format("bad.py"), 1),
        (plays.format("nowhere.py"), 2),
        (plays.format("bot.py --option nothing=1"), 2),
    ):
        program, *words = shlex.split(command)
        assert program == "cw"
        assert CliRunner().invoke(main, words).exit_code == code, command
