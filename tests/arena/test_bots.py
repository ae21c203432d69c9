"""What a bot argument means."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import msgspec
import pytest

from cw.arena.bots import LONGEST_COMMAND, BotSpec, read_bots, split_command
from cw.errors import UsageError
from cw.kits import how_to_build


def test_every_kind_of_bot(tmp_path: Path) -> None:
    program = tmp_path / "my bot.py"
    program.write_text("")
    texts = [
        "builtin:random",
        "me=python:bot.py:Player",
        "exec:node bot.js --deep",
        str(program),
        "https://bots.example:8443/me/",
    ]
    bots, secrets = read_bots(texts, ["me.secret=abc", "bot.js.api_key=1", "bot.js.form=lines"])
    assert [bot.name for bot in bots] == [
        "random", "me", "bot.js", "my-bot.py", "bots.example:8443",
    ]  # fmt: skip
    assert [bot.kind for bot in bots] == ["builtin", "python", "exec", "exec", "http"]
    assert bots[2].command == ["node", "bot.js", "--deep"]
    assert bots[3].command == [sys.executable, str(program)]
    assert bots[4].target == "https://bots.example:8443/me"
    assert (bots[1].settings, bots[2].settings) == ({}, {"form": "lines"})
    assert (secrets["me"], secrets["bot.js"]) == ({"secret": "abc"}, {"api_key": "1"})


@pytest.mark.parametrize(
    ("name", "called"),
    [("[x].py", "x-.py"), ("a:b.py", "a-b.py"), ("\x1b[2Jé.py", "2J-.py")],
)
def test_a_file_of_any_name_has_a_name_that_every_game_takes(
    tmp_path: Path, name: str, called: str
) -> None:
    (tmp_path / name).write_text("")
    bots = read_bots([str(tmp_path / name), "http://[::1]:80"]).bots
    assert [bot.name for bot in bots] == [called, "[::1]:80"]


def test_no_secret_is_in_what_is_shown() -> None:
    (bot,) = read_bots(["me=http://127.0.0.1:1"], ["me.secret=abc"]).bots
    assert "abc" not in repr(bot) + bot.spec


def test_a_setting_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "hidden")
    assert read_bots(["builtin:x"], ["x.secret=env:MINE"]).secrets["x"]["secret"] == "hidden"
    with pytest.raises(UsageError, match="no variable OTHER"):
        read_bots(["builtin:x"], ["x.secret=env:OTHER"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere.py", "no file 'nowhere.py'"),
        ("builtin:", "no file 'builtin:'"),
        ("exec: ", "no file"),
        ("http://", "not a base address"),
        ("http://host:0", "not a base address"),
        ("http://host:99999", "not a base address"),
        ("http://me:secret@host", "not a base address"),
        ("http://host/?key=1", "not a base address"),
        (__file__[:-3], "no file"),
    ],
)
def test_what_is_no_bot_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_bots([text])


@pytest.mark.parametrize("setting", ["secret=1", "b.secret=1", "x.Hat=1", "x.secret", ".secret=1"])
def test_what_is_no_setting_is_refused(setting: str) -> None:
    with pytest.raises(UsageError, match="--set takes"):
        read_bots(["builtin:x"], [setting])


def test_two_bots_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="two bots are named b"):
        read_bots(["b=builtin:x", "b=builtin:y"])


def test_a_file_that_cannot_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bot.xyz").write_text("")
    with pytest.raises(UsageError, match="say how to run it"):
        read_bots([str(tmp_path / "bot.xyz")])


def test_a_command_that_cannot_be_split_is_refused() -> None:
    with pytest.raises(UsageError, match="the command"):
        read_bots(['exec:python "bot.py'])
    (bot,) = read_bots(["me=exec:bot"]).bots
    bot = msgspec.structs.replace(bot, target='python "bot.py')
    with pytest.raises(UsageError, match="the command"):
        _ = bot.command


@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize(
    "path", [r"C:\Users\Ann Lee\bots\my bot.py", r"C:\it's\bot.py", "/home/ann/bot#1.py", r"\\pc\x"]
)
def test_the_path_of_a_program_survives_in_its_command(
    path: str, windows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cw.arena.bots.ON_WINDOWS", windows)
    command = ["python", path, "--deep", 'say "a\'b"', ""]
    assert split_command(shlex.join(command)) == command


def test_a_command_that_is_too_long_is_refused() -> None:
    assert split_command("a" * LONGEST_COMMAND) == ["a" * LONGEST_COMMAND]
    with pytest.raises(UsageError, match="too long: at most 8,192 characters"):
        split_command("a" * (LONGEST_COMMAND + 1))


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("bot.py", ("bot.py", "")),
        ("bot.py:Mine", ("bot.py", "Mine")),
        (r"C:\bots\bot.py", (r"C:\bots\bot.py", "")),
        (r"C:\bots\bot.py:Mine", (r"C:\bots\bot.py", "Mine")),
    ],
)
def test_the_file_and_the_player_in_it_are_told_apart(target: str, parts: tuple[str, str]) -> None:
    assert BotSpec("me", "python", target).python_player == parts


def test_a_command_is_split_as_it_is_written_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cw.arena.bots.ON_WINDOWS", True)
    command = r'C:\py\python.exe "C:\my bots\bot.py" --deep'
    assert split_command(command) == [
        r"C:\py\python.exe",
        r"C:\my bots\bot.py",
        "--deep",
    ]


@pytest.mark.parametrize(
    ("spec", "public"),
    [
        ("builtin:greedy", "builtin:greedy"),
        ("http://127.0.0.1:3000/bot", "http://127.0.0.1:3000/bot"),
        ("python:/home/me/mine.py:Walker", "python:mine.py:Walker"),
        ("python:bots/mine.py", "python:bots/mine.py"),
        (
            "exec:/usr/bin/env '/home/me/my bot/run' --map=/x/y.json -n 1/2",
            "exec:env run --map=y.json -n 1/2",
        ),
    ],
)
def test_replays_name_a_bot_without_folders(spec: str, public: str) -> None:
    (bot,) = read_bots([spec]).bots
    assert bot.public == public


@pytest.mark.parametrize(
    ("name", "command", "bot"),
    [
        ("bot.go", "go build -o bot .", "{folder}/bot"),
        ("bot.c", "cc -O2 -pthread -o bot *.c -lcjson", "{folder}/bot"),
        ("bot.cpp", "c++ -std=c++17 -O2 -pthread -o bot *.cpp -lcjson", "{folder}/bot"),
        (
            "Bot.java",
            "javac -d classes *.java && jar cfe bot.jar Bot -C classes .",
            '"exec:java -jar {folder}/bot.jar"',
        ),
    ],
)
def test_source_code_is_built_first(name: str, command: str, bot: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    (tmp_path / "Paint.java").touch()
    with pytest.raises(UsageError) as caught:
        read_bots([str(tmp_path / name)])
    assert str(caught.value) == (
        f"{tmp_path / name} is source code: build it first:"
        f" (cd {tmp_path} && {command}), then give {bot.format(folder=tmp_path)}"
    )


def test_a_single_file_of_java_runs_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "Bot.java").touch()
    assert how_to_build(tmp_path / "Bot.java") == ""
