"""How a bot comes to the table: which folder it gets a copy of, whatever its command looks like."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from cw.arena.bots import BotSpec
from cw.arena.launch import program_folder
from cw.arena.sandbox import Policy
from cw.cli import main
from tests.matches.playing import play_match
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="needs a shell of POSIX"),
    pytest.mark.usefixtures("patient_painters"),
]
BOTH = pytest.mark.parametrize("policy", [pytest.param("require", marks=NEEDS_BUBBLEWRAP), "off"])

PAINTER = """#!/bin/sh
test -e mark || { echo "this is not my folder" >&2; exit 3; }
read hello
echo '{"ready":true}'
read state
echo '{"turns_left":1,"type":"walk","direction":[1,0]}'
read end
"""
"""A bot for a game of one turn that plays only where it finds the file `mark`."""

COMMANDS = [
    ("sh bot.sh", "."),
    ("sh ./mine/bot.sh", "mine"),
    ("mine/bot.sh", "mine"),
    ("mine/bot.sh --deep", "mine"),
    ("sh mine/bot.sh tools/book.txt", "mine"),
    ("env X=1 sh mine/bot.sh", "mine"),
    ("env X=1 /bin/sh mine/bot.sh", "mine"),
    ("env X=1 /bin/sh {here}/mine/bot.sh", "mine"),
    ("env X=1 {here}/tools/bin/sh mine/bot.sh", "mine"),
    ("{here}/tools/bin/sh mine/bot.sh", "mine"),
    ("{here}/tools/sh mine/bot.sh", "mine"),
    ("env X=1 mine/bot.sh", "mine"),
    ("env X=1 mine/bin/bot.sh", "mine/bin"),
    ("env X=1 mine/bin/bot.sh mine/book.txt", "mine"),
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with bots and with shells that are not on the search path."""
    for place in (".", "mine", "mine/bin"):
        bot = tmp_path / place / "bot.sh"
        bot.parent.mkdir(exist_ok=True)
        bot.write_text(PAINTER)
        bot.chmod(0o755)
    for place in ("tools", "tools/bin"):
        (tmp_path / place).mkdir()
        shutil.copy("/bin/sh", tmp_path / place / "sh")
    for place in ("mine", "tools"):
        (tmp_path / place / "book.txt").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@BOTH
@pytest.mark.parametrize(("command", "folder"), COMMANDS)
def test_a_bot_works_in_the_folder_of_its_program(
    command: str, folder: str, policy: Policy, here: Path
) -> None:
    (here / folder / "mark").touch()
    bots = ["builtin:random", f"me=exec:{command.format(here=here)}"]
    result = play_match("paint", bots, 1, {"turns": 1}, sandbox=policy).result
    assert (result.faults, result.turns) == ((), 1)


WINDOWS_PATH = r"C:\bots\my bot\bot.exe"
"""A whole path on Windows; here it is the name of a file, with backslashes and a space in it."""


@pytest.mark.parametrize(
    ("bot", "name"),
    [
        (WINDOWS_PATH, "bot.exe"),
        (f"me={WINDOWS_PATH}", "me"),
        (f'exec:"{WINDOWS_PATH}"', "bot.exe"),
        (f'me=exec:sh "{WINDOWS_PATH}" --deep', "me"),
    ],
)
def test_a_command_of_windows_is_played_and_checked_as_it_is_written(
    bot: str, name: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cw.arena.bots.ON_WINDOWS", True)
    (here / "bot.sh").rename(here / WINDOWS_PATH)
    arguments = ["paint", bot, "--sandbox", "off", "--json"]
    options = ["--option", "turns=1", "--out", "match.json"]
    played = CliRunner().invoke(main, ["play", *arguments, "builtin:random", *options])
    player = json.loads(played.stdout)["players"][0]
    # It plays nowhere but in a folder with a mark, so what comes is what it says.
    assert player["name"] == name
    assert "this is not my folder" in player["faults"][0]["detail"]
    assert "C:" not in (here / "match.json").read_text()
    checked = CliRunner().invoke(main, ["check", *arguments])
    assert "this is not my folder" in checked.stdout


@pytest.mark.parametrize("command", ["sh -c 'exit 0'", "/bin/sh -c true", "env X=1 /bin/sh", "no"])
def test_a_command_without_a_file_has_no_folder(command: str) -> None:
    assert program_folder(BotSpec("me", "exec", command)) is None


def test_a_program_without_walls_is_warned_of(caplog: pytest.LogCaptureFixture, here: Path) -> None:
    bots = ["builtin:random", "me=exec:sh mine/bot.sh"]
    for _ in range(2):
        play_match("paint", bots, 1, {"turns": 1}, sandbox="off")
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 2
    assert all(line.startswith("me: LIMITS ONLY, it can read your files") for line in messages)
