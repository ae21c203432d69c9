"""Finds lines of a bot's files that its output blames: tracebacks and compiler messages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from cw.arena.exceptions import LONGEST, LineOfFile, exceptions

MOST_MARKS: Final = 50

COMPLAINT: Final = re.compile(
    r"^(?P<file>[^\s:][^\n:]{0,200}\.[A-Za-z]{1,5}):(?P<line>\d{1,7})(?::\d+)?:"
    r" ?(?:fatal error|error|warning)?:? ?(?P<words>\S.*)$",
    re.MULTILINE,
)
"""How gcc, g++, javac, go and ruby refer to a line."""

UNPARSED: Final = re.compile(
    r"^(?:PHP )?(?:Parse|Fatal) error: ++(?P<words>.*)"
    r" in (?P<file>\S+\.php) on line (?P<line>\d{1,7})$",
    re.MULTILINE,
)
"""How PHP refers to a line."""

ASIDE: Final = re.compile(r"^(?:note: |in [`']|In (?:file|function|member))")
"""Matches the start of messages that only explain another line."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line of a bot's file with a problem."""

    file: str
    line: int
    """The line number, from 1."""
    words: str
    turn: int = 0
    """The turn in which the problem was reported; 0 before the first."""


class SearchedParts:
    """The parts of an output, each searched once, however often a page requests the marks."""

    def __init__(self) -> None:
        """Start without any parts."""
        self._files: tuple[str, ...] = ()
        self._found: list[tuple[str, list[Mark]]] = []
        """The text of each part, and its marks."""

    def marks(self, parts: Sequence[tuple[int, str]], files: Collection[str]) -> list[Mark]:
        """Return the lines of `files` that the parts blame; each part is given with its turn."""
        if self._files != tuple(files):
            self._files, self._found = tuple(files), []
        for number, (turn, text) in enumerate(parts):
            if number == len(self._found):
                self._found.append(("", []))
            if self._found[number][0] != text:
                self._found[number] = (text, marks_in(text, files, turn))
        return list(chain.from_iterable(marks for _, marks in self._found[: len(parts)]))[
            :MOST_MARKS
        ]


def marks_in(output: str, files: Collection[str], turn: int = 0) -> list[Mark]:
    """Return the lines of these files that an output blames, each once, in order.

    Output is untrusted text: only lines of the named files are taken from it.

    >>> marks_in('  File "/bot/bot.py", line 7, in choose\\n    1 / 0\\nKeyError: 3\\n', ["bot.py"])
    [Mark(file='bot.py', line=7, words='KeyError: 3', turn=0)]
    >>> marks_in("bot.c:12:5: error: expected ';'\\n", ["bot.c"])[0].words
    "expected ';'"
    """
    marks = [*raised_in(output, files, turn), *compiled_in(output, files, turn)]
    first = {(mark.file, mark.line): mark for mark in reversed(marks)}
    return [mark for mark in marks if first[mark.file, mark.line] is mark][:MOST_MARKS]


def raised_in(output: str, files: Collection[str], turn: int) -> Iterator[Mark]:
    """Yield for each exception the author's line where it was raised, and the innermost one.

    Both are lines of the bot's own files.
    """
    for each in exceptions(output):
        frames = each.frames if each.innermost_first else each.frames[::-1]
        inner = next((place for place in frames if name_of(place, files)), None)
        for place in dict.fromkeys((each.place, inner)):
            if place is not None and (name := name_of(place, files)):
                yield Mark(name, place.line, each.text, turn)


def compiled_in(output: str, files: Collection[str], turn: int) -> Iterator[Mark]:
    """Yield the lines that compiler messages refer to."""
    for match in (*COMPLAINT.finditer(output), *UNPARSED.finditer(output)):
        place = LineOfFile(match["file"], int(match["line"]))
        name = name_of(place, files)
        if name and not ASIDE.match(match["words"]):
            yield Mark(name, place.line, match["words"][:LONGEST], turn)


def name_of(place: LineOfFile, files: Collection[str]) -> str:
    """Return the file that a place names, without its folder; "" if it is not one of `files`."""
    return place.name if place.name in files else ""
