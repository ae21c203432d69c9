"""What an author reads whose code raises an exception in a kit that is a web service."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from cw.arena.bots import BotSpec, read_bots
from cw.kits import LANGUAGES, new_bot
from cw.matches.run import run_match
from cw.matches.spec import MatchResult, MatchSpec
from tests.kits.running import shell
from tests.tools import require

FAST = ("python", "javascript")

MISTAKES = {
    "python": (
        "        return random.choice",
        "        print('hello')\n        raise ValueError('my bug')\n        return random.choice",
        "ValueError: my bug (bot.py, line 16)",
    ),
    "javascript": (
        "    const moves =",
        "    console.log('hello');\n    throw new TypeError('my bug');\n    const moves =",
        "TypeError: my bug (bot.js, line 11)",
    ),
    "php": (
        "        $moves =",
        "        echo \"hello\\n\";\n        throw new LogicException('my bug');\n        $moves =",
        "LogicException: my bug (bot.php, line 16)",
    ),
    "ruby": (
        "    board.legal_moves",
        "    puts 'hello'\n    raise ArgumentError, 'my bug'\n    board.legal_moves",
        "ArgumentError: my bug (bot.rb, line 12)",
    ),
    "go": (
        "	moves :=",
        '	println("hello")\n	panic("my bug")\n	moves :=',
        "my bug (bot.go, line 15)",
    ),
    "java": (
        "        List<Hexagon.Move> moves",
        '        System.out.println("hello");\n        if (color > 0) throw new'
        ' IllegalStateException("my bug");\n        List<Hexagon.Move> moves',
        "IllegalStateException: my bug (Bot.java, line 10)",
    ),
    "cpp": (
        "        thread_local",
        '        std::printf("hello\\n");\n        throw std::logic_error("my bug");\n'
        "        thread_local",
        "std::logic_error: my bug",
    ),
}
"""By language: a line of the bot, what stands in its place, and what its author reads."""

UNFLUSHED = (
    "    struct move moves",
    '    printf("hello\\n");\n    abort();\n    struct move moves',
)
HEADERS = {"c": "#include <stdio.h>\n", "cpp": "#include <cstdio>\n#include <stdexcept>\n"}
FILES = {"java": "Bot.java", "javascript": "bot.js", "python": "bot.py", "ruby": "bot.rb"}


def played(language: str, folder: Path, old: str, new: str) -> MatchResult:
    """Play a match of the kit with a change against a bot that moves by chance."""
    require(language)
    new_bot("hexagon", language, folder)
    file = folder / FILES.get(language, f"bot.{language}")
    source = file.read_text("utf-8")
    assert source.count(old) == 1
    file.write_text(HEADERS.get(language, "") + source.replace(old, new), "utf-8")
    if build := LANGUAGES[language].build:
        shell(build, folder)
    command = LANGUAGES[language].bot.split()
    here = [str(folder / part) if (folder / part).exists() else part for part in command]
    (bot,) = read_bots([f"bad={' '.join(here)}"]).bots
    random = BotSpec("random", "builtin", "random")
    return asyncio.run(run_match(MatchSpec("bad", "hexagon", (bot, random), seed=1)))


@pytest.mark.parametrize(
    "language",
    [
        pytest.param(language, marks=() if language in FAST else pytest.mark.thorough)
        for language in MISTAKES
    ],
)
def test_an_exception_reaches_its_author_and_nobody_else(language: str, tmp_path: Path) -> None:
    old, new, words = MISTAKES[language]
    result = played(language, tmp_path / "bot", old, new)
    (fault,) = result.faults_of(0)
    assert fault.kind == "malformed"
    assert fault.detail == f"HTTP status 500, expected 200: {words}"
    assert fault.answer == words
    assert "hello\n" in result.stderr[0], "what it printed is kept"
    assert "my bug" in result.stderr[0]
    told_to_all = msgspec.json.encode([result.replay["turns"], result.replay["frame"]])
    assert b"my bug" not in told_to_all


@pytest.mark.thorough
def test_what_a_program_in_c_has_printed_is_kept_when_it_crashes(tmp_path: Path) -> None:
    result = played("c", tmp_path / "bot", *UNFLUSHED)
    (fault,) = result.faults_of(0)
    assert fault.kind == "crashed"
    assert fault.detail.startswith("aborted (exit code 134)")
    assert "hello\n" in result.stderr[0]


def test_every_language_is_tried() -> None:
    assert {*MISTAKES, "c"} == {*LANGUAGES}
