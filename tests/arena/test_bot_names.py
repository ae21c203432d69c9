"""What bots are called that were given no name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cw.arena.bots import NAMED, numbered, read_bots
from cw.games.end_of_codes.rules.genesis import USERNAME
from cw.games.paint.state import PLAYER_ID
from cw.matches.hosted import team_id
from cw.server.session import GITHUB


def names(*texts: str) -> list[str]:
    return [bot.name for bot in read_bots(texts).bots]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("builtin:greedy", "greedy"),
        ("python:bots/mine.py", "mine.py"),
        ("python:bots/mine.py:Walker", "Walker"),
        ("exec:node bot.js --deep", "bot.js"),
        ("exec:java -jar /home/me/bot.jar", "bot.jar"),
        ("exec:./bot --fast", "bot"),
        ("exec:cw bots serve paint greedy", "cw"),
        ("exec:/usr/bin/env PORT=1 NAME=x ./bot", "bot"),
        ("exec:env", "env"),
        (r"python:C:\bots\mine.py", "mine.py"),
        ("http://127.0.0.1:3000", "127.0.0.1:3000"),
        ("https://bots.example/me/", "bots.example"),
        ("http://[::1]:3000", "[::1]:3000"),
        ("me=http://127.0.0.1:3000", "me"),
        ("exec:./größter bot", "gr-ter"),
        ("exec:'./机器人'", "bot"),
    ],
)
def test_a_bot_is_named_after_what_it_is(text: str, name: str) -> None:
    assert names(text) == [name]


def test_a_program_is_named_after_its_file(tmp_path: Path) -> None:
    program = tmp_path / "my bot.py"
    program.touch()
    link = tmp_path / "greedy.py"
    link.symlink_to(program)
    assert names(str(program), str(link)) == ["my-bot.py", "greedy.py"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["builtin:greedy", "builtin:greedy"], ["greedy-1", "greedy-2"]),
        (["builtin:a", "builtin:b", "builtin:a"], ["a-1", "b", "a-2"]),
        (["greedy=builtin:random", "builtin:greedy"], ["greedy", "greedy-2"]),
        (["builtin:greedy", "greedy=builtin:random"], ["greedy-2", "greedy"]),
        (["a-2=builtin:x", "builtin:a", "builtin:a"], ["a-2", "a-1", "a-3"]),
    ],
)  # fmt: skip
def test_equal_names_are_numbered(texts: list[str], expected: list[str]) -> None:
    assert names(*texts) == expected


def test_long_names_stay_different() -> None:
    result = numbered(["n" * 64] * 12)
    assert len(set(result)) == 12
    assert max(map(len, result)) == 64


def test_a_setting_is_about_the_bot_before_the_last_dot(tmp_path: Path) -> None:
    for name in ("bot", "bot.py"):
        (tmp_path / name).touch(mode=0o755)
    bots, secrets = read_bots(
        [str(tmp_path / "bot.py"), str(tmp_path / "bot"), "http://127.0.0.1:3000"],
        ["bot.py.form=http", "bot.form=lines", "127.0.0.1:3000.secret=abc"],
    )
    assert [bot.settings.get("form") for bot in bots] == ["http", "lines", None]
    assert secrets["127.0.0.1:3000"] == {"secret": "abc"}


@pytest.mark.parametrize(
    "text",
    [
        "builtin:greedy",
        "exec:node my-bot.v2.js",
        "exec:./größter bot",
        "a.b-c_d=exec:./bot",
        f"python:{'x' * 90}.py",
        f"{'n' * 64}=exec:./bot",
    ],
)
def test_a_name_is_one_that_every_game_takes(text: str) -> None:
    bot, _ = read_bots([text, text.replace("a.b-c_d=", "").rpartition("=")[2]]).bots
    assert NAMED.fullmatch(f"{bot.name}=exec:bot")
    assert PLAYER_ID.fullmatch(bot.name)
    assert USERNAME.fullmatch(bot.username)
    assert GITHUB.pattern.fullmatch(team_id(bot))


def test_the_username_of_a_setting_stays() -> None:
    (bot,) = read_bots(["builtin:greedy"], ["greedy.username=my_team"]).bots
    assert bot.username == "my_team"
    (bot,) = read_bots(["http://127.0.0.1:3000"]).bots
    assert re.fullmatch("[0-9_]+", bot.username)
