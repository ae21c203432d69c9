"""Bytes of a bot as they come: cut into lines, or kept as head and tail. No I/O."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Final

SHOWN: Final = 200
"""Bytes of a line that a sentence quotes."""

MOST_STAMPS: Final = 64
"""Chunks with line ends that are held; tiny ones would else cost more than their bytes."""

LINE_ENDS: Final = re.compile(rb"[\r\n]*")


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end, and when its last byte came, in seconds."""

    text: bytes
    time: float


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line above the cap: its first bytes; the rest is dropped as it comes."""

    start: bytes


class LineBuffer:
    """Cuts bytes into lines when asked, and holds little more than one line of `cap` bytes.

    Lines end in LF or CR LF. Empty lines are skipped.
    """

    def __init__(self, cap: int) -> None:
        """Hold nothing yet."""
        self.cap = cap
        self._bytes = bytearray()
        self._searched = 0
        self._start = 0
        """Number of the first byte held, counted from the first that ever came."""
        self._stamps: deque[tuple[int, float]] = deque()
        """For every chunk with a line end: the number of the byte after it, and when it came."""
        self._dropping = False
        """Whether all up to the next line end belongs to a line that is dropped."""

    @property
    def full(self) -> bool:
        """Whether nothing more should be read before lines are taken."""
        return len(self._bytes) > self.cap or len(self._stamps) >= MOST_STAMPS

    @property
    def begun(self) -> bytes:
        """The first bytes of a line that has no end yet."""
        return bytes(self._bytes[:SHOWN])

    def feed(self, data: bytes, now: float) -> None:
        """Take in bytes that came at `now`."""
        self._bytes += data
        if b"\n" in data:
            self._stamps.append((self._start + len(self._bytes), now))

    def take(self) -> Line | TooLong | None:
        """Return the oldest complete line; None if there is none yet."""
        self._drop_rest()
        self._cut(_leading_line_ends(self._bytes))
        end = self._bytes.find(b"\n", self._searched)
        self._searched = len(self._bytes) if end < 0 else 0
        if (len(self._bytes) if end < 0 else end) > self.cap:
            return self._too_long()
        return None if end < 0 else self._line(end)

    def rest(self, now: float) -> Line | None:
        """Return what came after the last line end, when nothing more will come."""
        self._drop_rest()
        text = bytes(self._bytes).strip(b"\r\n")
        self._cut(len(self._bytes))
        return Line(text, now) if text else None

    def discard(self) -> int:
        """Drop all that came, and the line that it has begun; count the lines."""
        lines = 0
        while self.take() is not None:
            lines += 1
        if self._bytes:
            self._dropping = True
            self._cut(len(self._bytes))
            lines += 1
        return lines

    def _line(self, end: int) -> Line:
        byte = self._start + end + 1
        while self._stamps[0][0] < byte:
            self._stamps.popleft()
        line = Line(bytes(self._bytes[:end]).removesuffix(b"\r"), self._stamps[0][1])
        self._cut(end + 1)
        return line

    def _too_long(self) -> TooLong:
        found = TooLong(self.begun)
        self._dropping = True
        self._drop_rest()
        return found

    def _drop_rest(self) -> None:
        """Drop the rest of a line that is not wanted, as far as it has come."""
        if self._dropping:
            end = self._bytes.find(b"\n")
            self._dropping = end < 0
            self._cut(len(self._bytes) if end < 0 else end + 1)

    def _cut(self, length: int) -> None:
        """Forget the first bytes."""
        if length:
            del self._bytes[:length]
            self._start += length
            self._searched = 0
            while self._stamps and self._stamps[0][0] <= self._start:
                self._stamps.popleft()


def _leading_line_ends(data: bytearray) -> int:
    """Count them without a copy of the rest: a flood of short lines is cut in linear time."""
    found = LINE_ENDS.match(data)
    return found.end() if found else 0


class HeadAndTail:
    """The first and the last `size` bytes of a stream of any length."""

    def __init__(self, size: int) -> None:
        """Hold nothing yet."""
        self.size = size
        self.length = 0
        """Bytes that came in all."""
        self._head = bytearray()
        self._tail = b""

    def feed(self, data: bytes) -> None:
        """Take in the next bytes."""
        self.length += len(data)
        room = self.size - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self.size :]

    def text(self) -> str:
        """Return head and tail, with a line between them that counts what is left out."""
        left_out = self.length - len(self._head) - len(self._tail)
        gap = f"\n... {left_out} bytes left out ...\n".encode() if left_out else b""
        return (bytes(self._head) + gap + self._tail).decode(errors="replace")

    def end(self, length: int) -> str:
        """Return the last bytes, up to `length`."""
        held = bytes(self._head[-length:]) + self._tail
        return held[-length:].decode(errors="replace").strip()
