"""A running match as a file that others read: its head in the first line, then its turns.

A line after the first holds the turns of a moment, the faults that came with them, and the result
as it then stood. The file is gone when the match is over: then there is a replay.
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
"""Seconds between two lines: nobody reads faster."""

LARGEST: Final = 64 * 1024 * 1024
"""Bytes up to which a match is told."""

MOST_BYTES: Final = 8 * 1024 * 1024
"""Bytes of turns that are read at once."""

LiveDocument = dict[str, Any]


class LiveLine(msgspec.Struct, frozen=True):
    """The turns of a moment."""

    after: int
    """How many turns came before them."""
    turns: list[msgspec.Raw]
    faults: list[msgspec.Raw]
    result: msgspec.Raw


Part: TypeAlias = Callable[[LiveDocument], LiveDocument]
"""Makes of a head or a line what its readers may know."""


class LiveLines:
    """A match told in lines: its head, and again and again what is new."""

    def __init__(self, public: Part = lambda part: part) -> None:
        """Begin before the head; `public` gives what is written of each line."""
        self._public = public
        self.turns = self._faults = 0
        """How many are told."""

    def head(self, progress: MatchProgress) -> bytes:
        """Return the first line; all turns are to be told after it."""
        self.turns = self._faults = 0
        return self._line(progress.document() | {"turns": [], "faults": []})

    def news(self, progress: MatchProgress, most: int | None = None) -> bytes:
        """Return a line with what came after the one before, so many turns of it at most."""
        ending = ending_of(progress.record)
        turns = progress.recorder.turns[self.turns :][:most]
        line = {"after": self.turns, "turns": turns, **ending}
        data = self._line(line | {"faults": ending["faults"][self._faults :]})
        self.turns, self._faults = self.turns + len(turns), len(ending["faults"])
        return data

    def _line(self, part: LiveDocument) -> bytes:
        return msgspec.json.encode(self._public(part)) + b"\n"


class LiveFile:
    """Writes a match while it is played; a disk that fails ends the telling, not the match."""

    def __init__(self, place: Path, clock: Callable[[], float]) -> None:
        """Write nothing before the start of the match; `clock` gives seconds."""
        self._place = place
        self._clock = clock
        self._lines = LiveLines()
        self._written = 0
        """Bytes."""
        self._next = 0.0

    def watch(self, progress: MatchProgress) -> None:
        """Take in the start, or a turn."""
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
    """Return the replay of a match so far, or with `after` what came after so many turns.

    Its values are JSON as it stands in the file. At most MOST_BYTES bytes of turns are read: the
    member `more` says whether there are others. None if there is no such file, or nothing in it.
    """
    try:
        with place.open("rb") as file:
            # The last line may still be being written.
            return live_document(file.read(2 * LARGEST).split(b"\n")[:-1], after)
    except OSError:
        return None


class MatchSoFar(NamedTuple):
    """What lines tell of a match."""

    head: dict[str, msgspec.Raw]
    turns: list[msgspec.Raw]
    faults: list[msgspec.Raw]
    result: msgspec.Raw

    def since(self, after: int | None) -> LiveDocument:
        """Return the match, or what came after so many turns, as `read_live` does."""
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
    """Return what lines tell of a match; None where there is no head."""
    try:
        head = documents.decode(lines[0], dict[str, msgspec.Raw])
        entries = [documents.decode(line, LiveLine) for line in lines[1:]]
        result = entries[-1].result if entries else head["result"]
    except (LookupError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    turns = [*chain.from_iterable(line.turns for line in entries)]
    return MatchSoFar(head, turns, [*chain.from_iterable(line.faults for line in entries)], result)


def live_document(lines: Sequence[bytes], after: int | None) -> LiveDocument | None:
    """Return what lines tell of a match, as `read_live` does; None where there is no head."""
    match = match_of(lines)
    return match and match.since(after)
