"""A bot that is a local process and speaks lines over standard input and output."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from cw.arena.program import STDERR_BYTES, STDOUT, Program
from cw.arena.sandbox.reached_limits import UNBOUND, Bounds
from cw.arena.transports.lines import EXCERPT, HeadAndTail, LineBuffer, TooLong
from cw.games.rules import Fault

LINE_CAP: Final = 64 * 1024
FLOOD_CAP: Final = 1024 * 1024

PASSES: Final = 3
"""Iterations of the event loop in which the pending bytes of a pipe are read."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A line from the bot, without its line ending."""

    line: bytes
    seconds: float
    """From the last byte of the request in the bot's pipe to the last byte of the line read here.

    Below 0 if the line was there before the request.
    """
    complete: bool = True
    """False for the last bytes before end of file without a line end."""


class StdioBot(Program):
    """A program that speaks lines: with `send` and `receive`, or with `exchange` for one each.

    Its lines stay in order and are buffered until they are taken; when more than `line_cap` bytes
    wait, reading stops, and the program's writes block. `flood_cap` bounds the bytes that may
    arrive between two requests before the bot is ended.

    No method raises for what a bot does: each returns a Fault instead. Once `gone` is a fault, the
    bot is asked nothing more, and returns that fault after the last lines it wrote.
    """

    def __init__(
        self, line_cap: int = LINE_CAP, flood_cap: int = FLOOD_CAP, bounds: Bounds = UNBOUND
    ) -> None:
        """Prepare a program; `start` starts it."""
        super().__init__(bounds)
        self.flood_cap = flood_cap
        self.received = 0
        """Total bytes read from standard output."""
        self.unasked = 0
        """Lines that `exchange` dropped because they were there before the request."""
        self._lines = LineBuffer(line_cap)
        self._log: HeadAndTail | None = None
        self._since_request = 0
        self._requested = self._drained = 0.0
        self._paused = False
        self._flooded = False

    @property
    def gone(self) -> Fault | None:
        """Why the bot cannot continue, as far as is known yet; None if it can."""
        if self._flooded:
            detail = f"it wrote more than {self.flood_cap} bytes without an answer, and was stopped"
            return Fault("oversize", detail)
        return super().gone

    async def send(self, line: bytes, seconds: float) -> Fault | None:
        """Write a line, given without its end; return None once all of it is in the bot's pipe.

        Returns the fault `timeout` if the bot did not accept it within `seconds`. The rest of the
        line is then sent before anything else: until that is done, no further line is sent.
        """
        until = self._loop.time() + seconds
        if not await self._drain(until):
            busy = Fault("timeout", "it is still busy with an earlier turn")
            return await self._why_gone() or busy
        self._since_request = 0
        self._requested = self._drained = self._loop.time()
        self._stdin.write(line + b"\n")
        if not await self._drain(until):
            return await self._why_gone() or self._unread(len(line) + 1, seconds)
        # The clock of the answer starts once the bot could have read the line, not while a full
        # pipe delays it.
        self._requested = self._drained
        return None

    async def receive(self, seconds: float) -> Answer | Fault:
        """Take the oldest line not yet taken, whenever it arrived; wait up to `seconds` for one.

        Bytes in the pipe when the time is up still count, so 0 seconds is a poll. Kinds of faults:
        `timeout`; `oversize` for a line above the cap, after which receiving may go on; and
        whatever made the bot `gone`. Determining how it ended may take another 0.5 s, once.
        """
        until = self._loop.time() + seconds
        while (answer := self._take()) is None:
            # Lines written before the end still count: the fault of a program that has ended comes
            # after them.
            if STDOUT not in self._open or self._exit_code is not None:
                await self._settle()
                return self._take() or self._rest() or await self._why_gone() or self._late(seconds)
            left = until - self._loop.time()
            if left <= 0:
                return await self._last_look() or self._late(seconds)
            await self._wait(left)
        return answer

    async def exchange(self, line: bytes, seconds: float) -> Answer | Fault:
        """Send a line; return the first line that starts after it was sent.

        Lines that arrived earlier are dropped and counted in `unasked`; so are second and late
        answers, when the next request is sent. A late answer that arrives after the next request
        cannot be distinguished from the answer to it: if answers carry a nonce, use `send` and
        `receive` instead.
        """
        until = self._loop.time() + seconds
        await self._discard()
        fault = await self.send(line, until - self._loop.time())
        return fault or await self.receive(until - self._loop.time())

    def ignore_output(self) -> HeadAndTail:
        """Stop reading lines: all further output is recorded in the returned head and tail."""
        if self._log is None:
            self._log = HeadAndTail(STDERR_BYTES)
            self._lines.discard()
        self._resume()
        return self._log

    def keep_output(self) -> None:
        """Stop reading lines: record further output with the program's standard error, in order."""
        while (line := self._lines.take()) is not None:
            self.stderr.feed((line.start if isinstance(line, TooLong) else line.text) + b"\n")
        rest = self._lines.rest(self._loop.time())
        self.stderr.feed(rest.text if rest else b"")
        self._log = self.stderr
        self._resume()

    def resume_writing(self) -> None:
        """Record that the whole request is in the pipe."""
        self._drained = self._loop.time()
        self._change.set()

    def _read(self, data: bytes) -> None:
        self.received += len(data)
        if self._log is not None:
            self._log.feed(data)
            return
        self._since_request += len(data)
        self._lines.feed(data, self._loop.time())
        # Back-pressure instead of a buffer: a bot that floods blocks itself, not us.
        if self._lines.full and not self._paused:
            self._paused = True
            self._stdout.pause_reading()

    def _read_on(self) -> None:
        self.ignore_output()

    def _resume(self) -> None:
        if self._paused and STDOUT in self._open:
            self._stdout.resume_reading()
        self._paused = False

    def _take(self) -> Answer | Fault | None:
        """Return what is available without waiting."""
        # Short lines never fill the line buffer, so a flood of them is counted in bytes since the
        # request.
        if self._since_request > self.flood_cap and not self._flooded:
            self._flooded = True
            self._kill()
        if self._flooded:
            return self.gone
        line = self._lines.take()
        if line is None:
            self._resume()
            return None
        if isinstance(line, TooLong):
            start = _quote(line.start)
            detail = f"it sent a line of more than {self._lines.cap} bytes: {start}..."
            return Fault("oversize", detail)
        return Answer(line.text, line.time - self._requested)

    def _rest(self) -> Answer | None:
        """Return the bytes before end of file that had no line end."""
        rest = self._lines.rest(self._loop.time())
        if rest is None:
            return None
        return Answer(rest.text, rest.time - self._requested, complete=False)

    async def _why_gone(self) -> Fault | None:
        """Return the reason, with the exit code if it becomes known soon."""
        if self.gone is not None:
            await self._settle()
        return self.gone

    async def _last_look(self) -> Answer | Fault | None:
        """Read once more the pending bytes in the pipe."""
        await self.take_in()
        return self._take()

    async def take_in(self) -> None:
        """Read the pending bytes in the pipes."""
        for _ in range(PASSES):
            await asyncio.sleep(0)

    async def _discard(self) -> None:
        """Drop everything so far, including pending bytes in the pipe, up to the flood cap."""
        # Bounded, since a bot may write faster than we discard.
        before, limit = -1, self.received + self.flood_cap
        while before < self.received < limit:
            before = self.received
            self._resume()
            await self.take_in()
            self.unasked += self._lines.discard()

    async def _drain(self, until: float) -> bool:
        """Wait until all written bytes are in the pipe; return whether they are."""
        while self.gone is None and self._stdin.get_write_buffer_size():
            left = until - self._loop.time()
            if left <= 0:
                return False
            await self._wait(left)
        return self.gone is None

    def _unread(self, size: int, seconds: float) -> Fault:
        what = f"all {size} bytes from its standard input"
        return Fault("timeout", f"it did not read {what} within {seconds:.3g} s")

    def _late(self, seconds: float) -> Fault:
        why = ""
        if self.limit:
            why = f"; {self.limit}"
        elif not self.received:
            why = "; it has written nothing yet: does it flush its output?"
        elif self._lines.begun:
            why = f"; its last line has no line end: {_quote(self._lines.begun)}"
        return Fault("timeout", f"no line came within {max(seconds, 0):.3g} s{why}")


def _quote(line: bytes) -> str:
    return repr(line[:EXCERPT].decode(errors="replace"))
