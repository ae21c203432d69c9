"""Tracebacks and messages of compilers lead to lines of the bot's files, in eight languages."""

from __future__ import annotations

from collections.abc import Collection
from time import process_time

import pytest

from cw.workshop import marks as workshop_marks
from cw.workshop.marks import MOST_MARKS, Mark, SearchedParts, marks_in

PYTHON = """\
Traceback (most recent call last):
  File "/bot/hexagon.py", line 90, in act
    return self.choose(board)
  File "/bot/bot.py", line 15, in choose
    return helper(board)
  File "/bot/helper.py", line 3, in helper
    raise KeyError(3)
KeyError: 3
"""
PYTHON_SYNTAX = """\
  File "/bot/bot.py", line 4
    def choose(self
              ^
SyntaxError: '(' was never closed
"""
NODE = """\
/bot/bot.js:9
    return board.legalMoves(color)[0].x.y;
                                        ^

TypeError: Cannot read properties of undefined (reading 'y')
    at RandomBot.choose (/bot/bot.js:9:41)
    at Server.<anonymous> (/bot/bot_server.js:30:5)
    at node:internal/main/run_main_module:28:49
"""
NODE_SYNTAX = """\
/bot/bot.js:5
  choose(board {
               ^

SyntaxError: Unexpected token '{'
    at wrapSafe (node:internal/modules/cjs/loader:1662:18)
"""
JAVA = """\
Exception in thread "main" java.lang.IndexOutOfBoundsException: Index 0 out of bounds for length 0
\tat java.base/java.util.ArrayList.get(ArrayList.java:427)
\tat Bot.choose(Bot.java:12)
\tat Paint.run(Paint.java:40)
"""
JAVAC = """\
Bot.java:7: error: cannot find symbol
        retrun move;
        ^
  symbol:   class retrun
1 error
"""
GCC = """\
bot.c: In function 'choose':
bot.c:12:5: error: expected ';' before 'return'
   12 |     return moves[0];
hexagon.h:3:1: note: declared here
"""
GPP = "/home/ann/bot/bot.cpp:20:10: fatal error: missing.hpp: No such file or directory\n"
GO = "# bot\n./bot.go:17:2: undefined: moves\n"
GO_PANIC = """\
panic: runtime error: index out of range [5] with length 0

goroutine 1 [running]:
main.choose(...)
\t/bot/bot.go:14 +0x1d
main.main()
\t/bot/bot.go:30 +0x25
"""
PHP = 'PHP Parse error:  syntax error, unexpected token "return" in /bot/bot.php on line 9\n'
PHP_RAISED = """\
PHP Fatal error:  Uncaught ValueError: nothing to choose from in /bot/bot.php:11
Stack trace:
"""
RUBY = """\
/bot/bot.rb:8:in 'choose': undefined local variable (NameError)
\tfrom /bot/bot_server.rb:20:in 'block'
"""

CASES = [
    ("python", PYTHON, {("bot.py", 15), ("helper.py", 3)}, "KeyError: 3"),
    ("python syntax", PYTHON_SYNTAX, {("bot.py", 4)}, "SyntaxError: '(' was never closed"),
    ("node", NODE, {("bot.js", 9)}, "TypeError: Cannot read properties of undefined"),
    ("node syntax", NODE_SYNTAX, {("bot.js", 5)}, "SyntaxError: Unexpected token '{'"),
    ("java", JAVA, {("Bot.java", 12)}, "IndexOutOfBoundsException: Index 0"),
    ("javac", JAVAC, {("Bot.java", 7)}, "cannot find symbol"),
    ("gcc", GCC, {("bot.c", 12)}, "expected ';' before 'return'"),
    ("g++", GPP, {("bot.cpp", 20)}, "missing.hpp: No such file or directory"),
    ("go", GO, {("bot.go", 17)}, "undefined: moves"),
    ("go panic", GO_PANIC, {("bot.go", 14)}, "panic: runtime error"),
    ("php", PHP, {("bot.php", 9)}, "syntax error, unexpected token"),
    ("php raised", PHP_RAISED, {("bot.php", 11)}, "ValueError: nothing to choose from"),
    ("ruby", RUBY, {("bot.rb", 8)}, "NameError: undefined local variable"),
]
FILES = [
    *("bot.py", "helper.py", "bot.js", "Bot.java", "bot.c", "hexagon.h", "bot.cpp", "bot.go"),
    *("bot.php", "bot.rb"),
]


@pytest.mark.parametrize(
    ("output", "lines", "words"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_a_line_is_found(output: str, lines: set[tuple[str, int]], words: str) -> None:
    marks = marks_in(output, FILES, 3)
    assert {(mark.file, mark.line) for mark in marks} == lines
    assert all(mark.words.startswith(words) and mark.turn == 3 for mark in marks)


def test_where_a_web_service_got_nothing_the_line_that_failed_is_named_once() -> None:
    frames = [
        ("bot_server.py", 136),
        ("bot_server.py", 100),
        ("hexagon.py", 124),
        ("hexagon.py", 168),
    ]
    lines = [f'  File "/bot/{file}", line {line}, in answer\n    ...\n' for file, line in frames]
    output = f"Traceback (most recent call last):\n{''.join(lines)}TypeError: nothing came\n"
    marks = marks_in(output, ["bot.py", "bot_server.py", "hexagon.py"])
    assert [(mark.file, mark.line) for mark in marks] == [("hexagon.py", 168)]


def test_files_of_others_are_no_lines_of_the_bot() -> None:
    assert marks_in(PYTHON, ["other.py"]) == []
    assert (
        marks_in(
            '  File "/usr/lib/python3.11/random.py", line 7, in choice\nKeyError: 3\n', ["bot.py"]
        )
        == []
    )


def test_tracebacks_that_are_mixed_up_cost_no_time() -> None:
    mixed = '  File "/bot/bot.py", line 6, in choose\n    while True: os.fork()\n' * 1000
    began = process_time()
    assert marks_in(mixed + PYTHON, FILES)
    assert process_time() - began < 5  # seconds; without a bound it takes minutes


def test_what_a_bot_writes_is_bounded() -> None:
    output = "".join(f"bot.c:{line}:1: error: {'x' * 5000}\n" for line in range(1, 1000))
    marks = marks_in(output, ["bot.c"])
    assert len(marks) == MOST_MARKS
    assert max(len(mark.words) for mark in marks) <= 300
    assert marks_in("bot.c:" + "9" * 5000 + ":1: error: x\n" * 2, ["bot.c"]) == []


def test_each_part_of_an_output_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []

    def counted(output: str, files: Collection[str], turn: int) -> list[Mark]:
        searched.append(turn)
        return marks_in(output, files, turn)

    monkeypatch.setattr(workshop_marks, "marks_in", counted)
    output = SearchedParts()
    parts = [(0, ""), (1, PYTHON), (2, NODE)]
    for _ in range(5):
        marks = output.marks(parts, FILES)
    assert [(mark.file, mark.line, mark.turn) for mark in marks] == [
        ("bot.py", 15, 1),
        ("helper.py", 3, 1),
        ("bot.js", 9, 2),
    ]
    assert searched == [1, 2]
    # The last part grows while its turn is played; the files may be renamed.
    assert output.marks([*parts[:2], (2, NODE + GO_PANIC)], FILES)[-1].file == "bot.go"
    assert searched == [1, 2, 2]
    assert output.marks(parts, ["bot.js"]) == marks[2:]
    assert searched == [1, 2, 2, 1, 2]
