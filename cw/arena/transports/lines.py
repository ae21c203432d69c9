"""Buffers for a bot's output, without I/O: split into lines, or retained as head and tail."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Final

EXCERPT: Final = 200
"""Bytes of a line that a message quotes."""

MOST_STAMPS: Final = 64
"""Maximum number of buffered chunks with line ends: tiny ones take more memory than their bytes."""

LINE_ENDS: Final = re.compile(rb"[\r\n]*")


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end, and the time in seconds when its last byte arrived."""

    text: bytes
    time: float


@dataclass(frozen=True, slots=True)
class TooLong:
    """The first bytes of a line that is too long; the rest is dropped as it arrives."""

    start: bytes


class LineBuffer:
    """Splits bytes into lines on demand, and buffers little more than one line of `cap` bytes.

    Lines end in LF or CR LF. Empty lines are skipped. A line longer than `cap` is never stored as a
    whole, so a bot cannot use up our memory.
    """

    def __init__(self, cap: int) -> None:
        """Start with an empty buffer."""
        self.cap = cap
        self._bytes = bytearray()
        self._searched = 0
        """The number of buffered bytes known to contain no line end; not searched again."""
        self._start = 0
        """The position of the first buffered byte in the stream."""
        self._stamps: deque[tuple[int, float]] = deque()
        """For every chunk with a line end: the stream position after it, and its time."""
        self._dropping = False
        """Whether the bytes up to the next line end belong to a dropped line."""

    @property
    def full(self) -> bool:
        """Whether lines should be taken before more bytes are fed."""
        return len(self._bytes) > self.cap or len(self._stamps) >= MOST_STAMPS

    @property
    def begun(self) -> bytes:
        """The first bytes of a line that has not ended yet."""
        return bytes(self._bytes[:EXCERPT])

    def feed(self, data: bytes, now: float) -> None:
        """Add bytes that arrived at `now`."""
        self._bytes += data
        if b"\n" in data:
            self._stamps.append((self._start + len(self._bytes), now))

    def take(self) -> Line | TooLong | None:
        """Remove and return the oldest complete or overlong line; None if there is none yet."""
        if not self._bytes:
            return None
        self._drop_rest()
        self._cut(_leading_line_ends(self._bytes))
        end = self._bytes.find(b"\n", self._searched)
        # Otherwise a line that arrives byte by byte would be searched in quadratic time.
        self._searched = len(self._bytes) if end < 0 else 0
        if (len(self._bytes) if end < 0 else end) > self.cap:
            return self._too_long()
        return None if end < 0 else self._line(end)

    def rest(self, now: float) -> Line | None:
        """Remove and return the bytes after the last line end, once the stream has ended."""
        self._drop_rest()
        text = bytes(self._bytes).strip(b"\r\n")
        self._cut(len(self._bytes))
        return Line(text, now) if text else None

    def discard(self) -> int:
        """Drop everything so far and the rest of an unfinished line; return the number of lines."""
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
        line = TooLong(self.begun)
        self._dropping = True
        self._drop_rest()
        return line

    def _drop_rest(self) -> None:
        """Drop the rest of a dropped line, as far as it has arrived."""
        if self._dropping:
            end = self._bytes.find(b"\n")
            self._dropping = end < 0
            self._cut(len(self._bytes) if end < 0 else end + 1)

    def _cut(self, length: int) -> None:
        """Remove the first bytes from the buffer, and their stamps."""
        if length:
            del self._bytes[:length]
            self._start += length
            self._searched = 0
            while self._stamps and self._stamps[0][0] <= self._start:
                self._stamps.popleft()


def _leading_line_ends(data: bytearray) -> int:
    """Return the number of leading CR and LF bytes.

    Unlike lstrip, a match copies nothing, so a flood of empty lines takes linear time.
    """
    match = LINE_ENDS.match(data)
    return match.end() if match else 0


class HeadAndTail:
    """The first and the last `size` bytes of a stream of any length."""

    def __init__(self, size: int) -> None:
        """Create it empty."""
        self.size = size
        self.length = 0
        """The number of bytes fed."""
        self._head = bytearray()
        self._tail = b""

    def feed(self, data: bytes) -> None:
        """Add the next bytes."""
        self.length += len(data)
        room = self.size - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self.size :]

    def text(self) -> str:
        """Return head and tail, with a line between them that says how many bytes were left out."""
        return self._until(self.length).decode(errors="replace")

    def place(self, position: int) -> int:
        """Return the index in the text for a position of the stream.

        For bytes that were left out, this is the end of the line that says so.
        """
        return len(self._until(position).decode(errors="replace"))

    def _until(self, position: int) -> bytes:
        """Return the part of the text before a position of the stream."""
        if position <= len(self._head):
            return bytes(self._head[:position])
        left_out = self.length - len(self._head) - len(self._tail)
        gap = f"\n... {left_out} bytes left out ...\n".encode() if left_out else b""
        after = max(0, position - len(self._head) - left_out)
        return bytes(self._head) + gap + self._tail[:after]

    def end(self, length: int) -> str:
        """Return the last bytes as text, at most `length`, without surrounding blank lines."""
        content = bytes(self._head[-length:]) + self._tail
        return content[-length:].decode(errors="replace").rstrip().lstrip("\r\n")


SILENT: Final = HeadAndTail(0)
"""The output of a bot without a program."""
