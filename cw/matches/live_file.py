"""Live files: a match in progress, written as lines for other processes to read.

The first line is its head. Each later line holds the turns since the previous one, the faults that
occurred in them, and the result so far. The file is removed when the match is over, as there is a
replay then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from cw import documents
from cw.files import insist
from cw.matches.progress import MatchProgress
from cw.replays.document import ending_of

STEADY: Final = 0.2
"""Seconds between two lines: no one reads faster."""

LARGEST: Final = 64 * 1024 * 1024
"""Maximum bytes written per match."""

MOST_BYTES: Final = 8 * 1024 * 1024
"""Maximum bytes of turns read in one call."""

LiveDocument = dict[str, Any]


class LiveLine(msgspec.Struct, frozen=True):
    """The turns since the last line."""

    after: int
    """The number of turns before them."""
    turns: list[msgspec.Raw]
    faults: list[msgspec.Raw]
    result: msgspec.Raw


Part: TypeAlias = Callable[[LiveDocument], LiveDocument]
"""Reduces a head or a line to what its readers may know."""


class LiveLines:
    """Formats a match as lines: its head, then what is new since the last line."""

    def __init__(self, public: Part = lambda part: part) -> None:
        """Start before the head; `public` filters what is written of each line."""
        self._public = public
        self.turns = self._faults = 0
        """The numbers of turns and faults already written."""

    def head(self, progress: MatchProgress) -> bytes:
        """Return the first line; all turns are to follow it."""
        self.turns = self._faults = 0
        return self._line(progress.document() | {"turns": [], "faults": []})

    def news(self, progress: MatchProgress, most: int | None = None) -> bytes:
        """Return a line with what is new since the last one, at most `most` turns of it."""
        ending = ending_of(progress.record)
        turns = progress.recorder.turns[self.turns :][:most]
        line = {"after": self.turns, "turns": turns, **ending}
        data = self._line(line | {"faults": ending["faults"][self._faults :]})
        self.turns, self._faults = self.turns + len(turns), len(ending["faults"])
        return data

    def _line(self, part: LiveDocument) -> bytes:
        return msgspec.json.encode(self._public(part)) + b"\n"


class LiveFile:
    """Writes a match while it is played; if the disk fails, writing stops, the match does not."""

    def __init__(self, place: Path, clock: Callable[[], float]) -> None:
        """Write nothing before the match starts; `clock` returns seconds."""
        self._place = place
        self._clock = clock
        self._lines = LiveLines()
        self._written = 0
        """Bytes written so far."""
        self._next = 0.0

    def watch(self, progress: MatchProgress) -> None:
        """Record the start, or a turn."""
        if self._written > LARGEST:
            return
        if self._written == 0:
            self._write(self._lines.head(progress), "wb")
        elif self._clock() >= self._next:
            self._write(self._lines.news(progress), "ab")
            self._next = self._clock() + STEADY

    def close(self) -> None:
        """Remove the file."""
        try:
            insist(lambda: self._place.unlink(missing_ok=True))
        except OSError:
            return

    def _write(self, data: bytes, mode: str) -> None:
        try:
            with self._place.open(mode) as file:
                file.write(data)
            self._written += len(data)
        except OSError:
            self._written = LARGEST + 1


def read_live(place: Path, after: int | None) -> LiveDocument | None:
    """Return the replay of a match so far or, with `after`, what followed that many turns.

    Its values are raw JSON from the file. At most MOST_BYTES bytes of turns are read: the member
    `more` says whether there are more. Returns None if the file is missing or has no head.
    """
    try:
        with place.open("rb") as file:
            # The last line may be incomplete.
            return live_document(file.read(2 * LARGEST).split(b"\n")[:-1], after)
    except OSError:
        return None


class MatchSoFar(NamedTuple):
    """The match that lines describe."""

    head: dict[str, msgspec.Raw]
    turns: list[msgspec.Raw]
    faults: list[msgspec.Raw]
    result: msgspec.Raw

    def since(self, after: int | None) -> LiveDocument:
        """Return the match, or what followed `after` turns, as `read_live` does."""
        news, size = self.turns[after or 0 :], 0
        for count, turn in enumerate(news):
            size += len(bytes(turn))
            if size > MOST_BYTES:
                news = news[: count + 1]
                break
        members: LiveDocument = {
            "turns": news,
            "faults": self.faults,
            "result": self.result,
            "more": (after or 0) + len(news) < len(self.turns),
        }
        return self.head | members if after is None else {"after": after} | members


def match_of(lines: Sequence[bytes]) -> MatchSoFar | None:
    """Read the lines of a match; return None without a head."""
    try:
        head = documents.decode(lines[0], dict[str, msgspec.Raw])
        entries = [documents.decode(line, LiveLine) for line in lines[1:]]
        result = entries[-1].result if entries else head["result"]
    except (LookupError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    turns = [*chain.from_iterable(line.turns for line in entries)]
    return MatchSoFar(head, turns, [*chain.from_iterable(line.faults for line in entries)], result)


def live_document(lines: Sequence[bytes], after: int | None) -> LiveDocument | None:
    """Read the lines of a match as `read_live` does; return None without a head."""
    match = match_of(lines)
    return match and match.since(after)
