"""The commands of the lab are typed as their pages and their help print them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw.cli.lab.compare import compare_command
from cw.cli.lab.league import league_command
from cw.cli.lab.tune import tune_command
from cw.cli.replay.ask import ask_command
from cw.kits import new_bot
from tests.lab.bots import PATIENCE
from tests.typed import ROOT

COMMANDS = {
    "cw compare": compare_command,
    "cw league": league_command,
    "cw tune": tune_command,
    "cw replay ask": ask_command,
}
PAGES = {
    page: (ROOT / page).read_text(encoding="utf-8") for page in ("docs/lab.md", "docs/commands.md")
} | {f"{name} --help": str(command.help) for name, command in COMMANDS.items()}
LINE = re.compile(rf"^ +(?:\$ )?((?:{'|'.join(COMMANDS)}) .+)$", re.M)

SHORT = {"paint": ("--option", "turns=6"), "hexagon": ("--option", "size=3")}
FEW = {
    "cw compare": ("--games", "8"),
    "cw tune": ("--games", "8", "--steps", "1", "--pairs", "1"),
}
VERDICTS = {0, 1, 3}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that has what the pages name."""
    monkeypatch.chdir(tmp_path)
    for game in SHORT:
        new_bot(game, "python", Path(game))
    for bot in ("one", "other"):
        shutil.copytree("paint", Path("bots", bot))
    Path("numbers.toml").write_text(PATIENCE, encoding="utf-8")
    seat("paint")
    turns = ("--option", "turns=20", "--out", "match.json.gz")
    assert cw("play", "paint", "builtin:greedy", "./bot.py", "--no-watch", *turns) == 0


def seat(game: str) -> None:
    """Put bots of a game where the pages have theirs."""
    shutil.copytree(game, ".", dirs_exist_ok=True)
    shutil.copytree(game, "old", dirs_exist_ok=True)
    shutil.copy("bot.py", "old.py")


def cw(*arguments: str) -> int:
    """Type a command; return its exit code, of which 2 and 4 are errors."""
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code in VERDICTS, (arguments, done.output)
    return done.exit_code


@pytest.mark.thorough
@pytest.mark.usefixtures("patient_painters")
@pytest.mark.skipif(os.name != "posix", reason="the pages name bots as shells of Linux do")
@pytest.mark.parametrize("page", PAGES)
def test_what_the_page_prints_can_be_typed(page: str) -> None:
    lines = LINE.findall(PAGES[page])
    assert lines
    matches = 0
    for line in lines:
        name = next(name for name in COMMANDS if line.startswith(name))
        words = shlex.split(line.replace("--port 8000", "--port 0"))[1:]
        if name == "cw replay ask":
            assert cw(*words) == 0
            continue
        if name == "cw league":
            # Each plays a little more of one league.
            matches += 2
            code = cw(*words, *(() if "--table" in words else ("--matches", str(matches))))
            assert code == 0
            continue
        seat(words[1])
        cw(*words, *FEW[name], *SHORT[words[1]])
