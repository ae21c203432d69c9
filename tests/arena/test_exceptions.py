"""The exception that an error output ends with: of real programs, and of hostile ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cw.arena.exceptions import LONGEST, last_exception
from tests.tools import require

PROGRAMS = {
    "python": (
        "bot.py",
        "import json\ndef choose():\n    return json.loads('{')\nchoose()\n",
        [sys.executable, "bot.py"],
        "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2"
        " (char 1) (bot.py, line 3)",
    ),
    "syntax": (
        "bot.py",
        "x = (\n",
        [sys.executable, "bot.py"],
        "SyntaxError: '(' was never closed (bot.py, line 1)",
    ),
    "javascript": (
        "bot.js",
        "function choose() {\n  throw new TypeError('my bug');\n}\nchoose();\n",
        ["node", "bot.js"],
        "TypeError: my bug (bot.js, line 2)",
    ),
    "syntax of javascript": (
        "bot.js",
        "function choose( {\n",
        ["node", "bot.js"],
        "SyntaxError: Unexpected end of input (bot.js, line 2)",
    ),
    "ruby": (
        "bot.rb",
        "def choose\n  raise 'my bug'\nend\nchoose\n",
        ["ruby", "bot.rb"],
        "RuntimeError: my bug (bot.rb, line 2)",
    ),
    "php": (
        "bot.php",
        "<?php\nfunction choose() { throw new LogicException('my bug in it'); }\nchoose();\n",
        ["php", "-d", "display_errors=stderr", "bot.php"],
        "LogicException: my bug in it (bot.php, line 2)",
    ),
    "java": (
        "Bot.java",
        "class Bot {\n static void choose() { throw new IllegalStateException("
        '"my bug"); }\n public static void main(String[] a) { choose(); }\n}\n',
        ["java", "Bot.java"],
        "IllegalStateException: my bug (Bot.java, line 2)",
    ),
}
THOROUGH = ("java", "php", "ruby")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.thorough if name in THOROUGH else ())
        for name in PROGRAMS
    ],
)
def test_an_exception_is_one_line_with_its_place(name: str, tmp_path: Path) -> None:
    file, source, command, expected = PROGRAMS[name]
    if command[0] != sys.executable:
        # The last word names the language.
        require(name.rsplit(maxsplit=1)[-1])
    (tmp_path / file).write_text(source, encoding="utf-8")
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert last_exception(ended.stderr) == expected


GO = """panic: my bug

goroutine 1 [running]:
main.choose(...)
	/bot/bot.go:12
main.main()
	/bot/bot.go:20 +0x1a
exit status 2
"""
CPP = "terminate called after throwing an instance of 'std::logic_error'\n  what():  my bug\n"
KIT = """Traceback (most recent call last):
  File "/bot/bot.py", line 20, in <module>
    run(RandomBot())
  File "/bot/paint.py", line 97, in run
    kind, way = bot.choose(state)
TypeError: cannot unpack non-iterable NoneType object
"""
CHAINED = (
    KIT
    + """
During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/usr/lib/python3.11/threading.py", line 5, in run
KeyError: 'x'
"""
)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (GO, "panic: my bug (bot.go, line 12)"),
        (CPP, "std::logic_error: my bug"),
        (KIT, "TypeError: cannot unpack non-iterable NoneType object (paint.py, line 97)"),
        (CHAINED, "KeyError: 'x'"),
        ("my words\nGET /bot 200 0.5 ms\n", ""),
        ("", ""),
    ],
)
def test_what_is_no_program_of_ours(output: str, expected: str) -> None:
    assert last_exception(output) == expected


@pytest.mark.parametrize(
    "output",
    [
        '  File "a", line 1\n' * 500,
        "  at a.b:1\n" * 800,
        "panic: x\n" * 900,
        "a:1:in 'x': " * 700,
        "terminate called after throwing an instance of '" * 170,
        "A: " * 2700 + " in ",
        f'  File "{"x" * 4000}.py", line {"7" * 3000}\nKeyError: 3\n',
        "x" * 8000 + "\n    at y (z.js:1:1)\n",
    ],
)
def test_no_output_takes_long_or_gives_much(output: str) -> None:
    assert len(last_exception(output)) <= LONGEST + 100
