"""The exception that an error output ends with: of real programs, and of hostile ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cw.arena.exceptions import LONGEST, READERS, Reader, exceptions, last_exception
from tests.growth import KIB, MOST, growth, repeated
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
    "a module that is not there": (
        "bot.js",
        "'use strict';\nconst nothing = require('./nothing');\n",
        ["node", "bot.js"],
        "Error: Cannot find module './nothing' (bot.js, line 2)",
    ),
    "a message of two lines": (
        "bot.js",
        "async function choose() { throw new Error('my\\nbug'); }\nchoose();\n",
        ["node", "bot.js"],
        "Error: my (bot.js, line 1)",
    ),
    "a value that is no error": (
        "bot.js",
        "\nthrow 'my bug';\n",
        ["node", "bot.js"],
        "Uncaught my bug (bot.js, line 2)",
    ),
    "a signal": (
        "bot.py",
        "import ctypes\nctypes.string_at(0)\n",
        [sys.executable, "-X", "faulthandler", "bot.py"],
        "Fatal Python error (bot.py, line 2)",
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
    "syntax of php": (
        "bot.php",
        "<?php\nfunction choose() { return 1\n}\n",
        ["php", "-d", "display_errors=stderr", "bot.php"],
        'syntax error, unexpected token "}", expecting ";" (bot.php, line 3)',
    ),
    "java": (
        "Bot.java",
        "class Bot {\n static void choose() { throw new IllegalStateException("
        '"my bug"); }\n public static void main(String[] a) { choose(); }\n}\n',
        ["java", "Bot.java"],
        "IllegalStateException: my bug (Bot.java, line 2)",
    ),
}
THOROUGH = ("java", "php", "ruby", "syntax of php")
LANGUAGE_OF = {"node": "javascript", "ruby": "ruby", "php": "php", "java": "java"}


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
        require(LANGUAGE_OF[command[0]])
    (tmp_path / file).write_text(source, encoding="utf-8")
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told(ended.stderr) == expected


def told(output: str) -> str:
    """Return what is told of the last exception of an output, "" where there is none."""
    last = last_exception(output)
    return last.sentence if last else ""


GO = """panic: my bug

goroutine 1 [running]:
main.choose(...)
	/bot/bot.go:12
main.main()
	/bot/bot.go:20 +0x1a
exit status 2
"""
ASAN = """=================================================================
==9==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x563d bp 0x7ffc T0)
==9==The signal is caused by a READ memory access.
    #0 0x563d4a31d20c in choose /bot/bot.c:4
    #1 0x7f95ec445249 in __libc_start_call_main ../sysdeps/nptl/libc_start_call_main.h:58

SUMMARY: AddressSanitizer: SEGV /bot/bot.c:4 in choose
"""
UBSAN = "bot.c:4:28: runtime error: load of null pointer of type 'int'\n"
RUBY_SYNTAX = "bot.rb:3: syntax error, unexpected `end'\n"
PHP_MEMORY = (
    "PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted (tried to allocate 262144"
    " bytes) in /bot/bot.php on line 3\n"
)
SERVED = """2026/01/02 03:04:05 http: panic serving 127.0.0.1:5: index out of range [3]
goroutine 7 [running]:
main.choose(...)
	/bot/bot.go:12
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
        (ASAN, "AddressSanitizer: SEGV on unknown address 0x000000000000 (bot.c, line 4)"),
        (UBSAN, "load of null pointer of type 'int' (bot.c, line 4)"),
        (RUBY_SYNTAX, "syntax error, unexpected `end' (bot.rb, line 3)"),
        (SERVED, "index out of range [3] (bot.go, line 12)"),
        (
            KIT.partition("\n")[2].strip(),
            "TypeError: cannot unpack non-iterable NoneType object (paint.py, line 97)",
        ),
        (KIT, "TypeError: cannot unpack non-iterable NoneType object (paint.py, line 97)"),
        (CHAINED, "KeyError: 'x'"),
        (
            PHP_MEMORY,
            "Fatal error: Allowed memory size of 134217728 bytes exhausted (tried to allocate"
            " 262144 bytes) (bot.php, line 3)",
        ),
        ("my words\nGET /bot 200 0.5 ms\n", ""),
        ("", ""),
    ],
)
def test_what_is_no_program_of_ours(output: str, expected: str) -> None:
    assert told(output) == expected


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
    assert len(told(output)) <= LONGEST + 100


HOSTILE = (
    "at a.a.a.a",
    "    at a.a.a.a.a:1\n",
    "    at x (a.a.a.a",
    "A: \n    at a.b:1\n",
    "a.b\n",
    '  File "a", line 1\n',
    '  File "',
    "Fatal Python error: \nCurrent thread\n",
    "a:1:in 'x': ",
    "a:1:in 'x': m (A)\n  from a:1:in 'x'\n",
    "a.rb:1: ",
    "Uncaught A: b in a:1 in ",
    "Fatal error: in a on line 1\n",
    "panic: x\n",
    "http: panic serving ",
    "terminate called after throwing an instance of '",
    "==1==ERROR: a\n    #0 a.b:1\n",
    "a:1:1: runtime error: ",
    "a.js:1\n",
    'Caused by: Exception in thread "',
    "1",
    " ",
    "\n",
)
"""What is tried to make each reader slow: repeated to the length of an output."""


def growth_of(work: Callable[[str], object], part: str) -> float:
    """Return how much longer 32 KiB of a text take than 8 KiB of it."""
    return growth(work, repeated(part, 8 * KIB), repeated(part, 32 * KIB))


@pytest.mark.parametrize("part", HOSTILE)
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_each_reader_takes_time_in_proportion(reader: Reader, part: str) -> None:
    assert growth_of(lambda text: list(reader(text.split("\n"))), part) <= MOST


@pytest.mark.parametrize("part", HOSTILE)
def test_all_readers_and_places_take_time_in_proportion(part: str) -> None:
    def read(text: str) -> None:
        assert all(len(str(raised.place)) < 100 for raised in exceptions(text))

    assert growth_of(read, part) <= MOST
