"""Compares two versions of a program: file by file, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, islice, takewhile
from typing import Final, Literal, TypeAlias

CONTEXT: Final = 3
"""Unchanged lines shown around those that differ."""

MOST_MATCHED: Final = 2000
"""Maximum number of lines, over all files, that are matched: this takes quadratic time."""

MOST_LINES: Final = 20_000
"""Maximum number of lines of a file that is shown."""

LONGEST_COMPARISON: Final = 4000
"""Maximum number of lines of a comparison."""

LONGEST_LINE: Final = 500
"""Maximum number of characters shown of a line."""

CUT: Final = " ... (the rest of the line was cut)"

Change: TypeAlias = Literal["added", "removed", "changed"]

Sign: TypeAlias = Literal[" ", "-", "+"]

Opcode: TypeAlias = tuple[str, int, int, int, int]
"""As in difflib: a tag, and ranges of lines in the earlier and the later version."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, in one version or in both."""

    sign: Sign
    old: int | None
    """Its number in the earlier version, from 1."""
    new: int | None
    text: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs."""

    name: str
    change: Change
    parts: Sequence[Sequence[Line]] | None
    """The places where it differs, with the lines around them; None if it is not text, or has too
    many lines.
    """


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two versions."""

    files: Sequence[FileChange]
    is_cut: bool
    """Whether there are more differences than shown."""


def compare(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Comparison:
    """Compare the files of two versions, given by name."""
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    files: list[FileChange] = []
    left, matched = LONGEST_COMPARISON, MOST_MATCHED // max(1, len(names))
    for name in names:
        parts = file_parts(old.get(name, b""), new.get(name, b""), matched, left)
        change: Change = "added" if name not in old else "removed" if name not in new else "changed"
        files.append(FileChange(name, change, parts))
        left -= sum(map(len, parts or ()))
        if left <= 0:
            break
    return Comparison(files, left <= 0)


def file_parts(old: bytes, new: bytes, matched: int, most: int) -> list[list[Line]] | None:
    """Return where a file differs, with at most `most` differing lines; None if not text.

    If a file has too many lines to match, everything between the first and the last difference is
    shown as removed, and as added.
    """
    before, after = lines_of(old), lines_of(new)
    if before is None or after is None:
        return None
    lines = lines_by(before, after, opcodes(before, after, matched))
    return list(grouped(islice(lines, MOST_LINES), most))


def lines_of(data: bytes) -> list[str] | None:
    """Return the lines of a text; None if it is not text, or has too many lines."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    is_text = "\0" not in text and text.count("\n") < MOST_LINES
    return text.removesuffix("\n").split("\n") if is_text and text else [] if is_text else None


def opcodes(old: Sequence[str], new: Sequence[str], matched: int) -> list[Opcode]:
    """Return the opcodes that turn one text into another."""
    first = common(old, new)
    last = common(old[first:][::-1], new[first:][::-1])
    a, b = len(old) - last, len(new) - last
    if max(a, b) - first > matched:
        middle: list[Opcode] = [("replace", first, a, first, b)]
    else:
        matcher = SequenceMatcher(None, old[first:a], new[first:b])
        middle = [
            (tag, i + first, j + first, k + first, m + first)
            for tag, i, j, k, m in matcher.get_opcodes()
        ]
    same: Opcode = ("equal", 0, first, 0, first)
    return [same, *middle, ("equal", a, len(old), b, len(new))]


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines two texts have in common at the beginning."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def lines_by(old: Sequence[str], new: Sequence[str], codes: Sequence[Opcode]) -> Iterator[Line]:
    """Yield the lines of both versions in order, removed ones before added ones."""
    for tag, a, b, c, d in codes:
        if tag == "equal":
            yield from (
                Line(" ", a + step + 1, c + step + 1, line_text(old[a + step]))
                for step in range(b - a)
            )
            continue
        yield from (Line("-", number + 1, None, line_text(old[number])) for number in range(a, b))
        yield from (Line("+", None, number + 1, line_text(new[number])) for number in range(c, d))


def line_text(text: str) -> str:
    """Return a line as shown: truncated if it is long."""
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}{CUT}"


def grouped(all_lines: Iterator[Line], most: int) -> Iterator[list[Line]]:
    """Yield lines in groups, without unchanged lines far from any difference."""
    lines = list(all_lines)
    differ = [place for place, line in enumerate(lines) if line.sign != " "][:most]
    near = {*chain.from_iterable(range(at - CONTEXT, at + CONTEXT + 1) for at in differ)}
    group: list[Line] = []
    for place, line in enumerate(lines):
        if place in near:
            group.append(line)
        elif group:
            yield group
            group = []
    if group:
        yield group
