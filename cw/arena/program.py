"""A program that we started: its pipes, output and exit code, and how to end it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self, cast

from cw.arena.exceptions import Raised, last_exception
from cw.arena.processes import (
    KILL,
    MARK,
    OWN_GROUP,
    describe_exit,
    kill_group,
    kill_marked,
    new_mark,
)
from cw.arena.sandbox.reached_limits import CAUSE, UNBOUND, Bounds
from cw.arena.transports.lines import HeadAndTail
from cw.games.rules import Fault

STDERR_BYTES: Final = 32 * 1024
"""Bytes of standard error retained from its head, and the same number from its tail."""

SETTLE: Final = 0.5
"""Seconds to wait for the exit code after a pipe closes, and for the last bytes after an exit."""

REAP: Final = 30.0
"""Seconds to allow a busy system for reaping a killed process."""

GRACE: Final = 0.5
QUOTED: Final = 300
"""Bytes of error output quoted in a message from its head, and the same number from its tail."""

SEARCHED: Final = 32 * 1024
"""Bytes at the end of standard error that are searched for an exception.

Go lists the frames of all goroutines below it.
"""

LIMIT_SEARCHED: Final = 2 * 1024
"""Bytes at the end of standard error that are searched for a limit if there is no exception."""

ERROR_OUTPUT: Final = "; the end of its error output: "
"""Separates how a program ended from the last text it wrote, in the message of a fault."""

STDIN, STDOUT, STDERR = 0, 1, 2

ASKS_BY_SIGNAL: Final = sys.platform != "win32"
"""Whether a signal can ask a program to exit; on Windows it exits at end of input or is killed."""


class PromptOutput(asyncio.Protocol):
    """Standard output that is read as it arrives.

    asyncio delivers what it reads from a subprocess's pipes in the next iteration of its loop,
    which costs as much as the exchange of a short line itself.
    """

    def __init__(self, program: Program, pipe: asyncio.BaseProtocol) -> None:
        """Wrap the protocol that asyncio attached to the pipe."""
        self._program = program
        self._pipe = pipe

    def data_received(self, data: bytes) -> None:
        """Process output."""
        self._program.pipe_data_received(STDOUT, data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass the closing of the pipe on to asyncio."""
        self._pipe.connection_lost(exc)


class Program(asyncio.SubprocessProtocol):
    """A running program in its own session and process group; must be closed.

    Its standard error is always read; its head and tail are stored in `stderr`.
    """

    def __init__(self, bounds: Bounds = UNBOUND) -> None:
        """Prepare a program; `start` starts it."""
        self.stderr = HeadAndTail(STDERR_BYTES)
        self.mark = new_mark()
        self._bounds = bounds
        self._loop = asyncio.get_running_loop()
        self._started = False
        self._open = {STDIN, STDOUT, STDERR}
        self._exit_code: int | None = None
        self._settled = False
        self._searched = 0
        """Length of standard error when it was last searched for an exception."""
        self._raised: Raised | None = None
        self._change = asyncio.Event()
        self._finished = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        pass_fds: Sequence[int] = (),
        **caps: Any,
    ) -> Self | Fault:
        """Start a program; return the fault `startup` if the system cannot start it.

        `env` is its whole environment (None: ours); a mark is added to it. `pass_fds` are
        additional file descriptors that it inherits, on POSIX. `caps` are passed to the class.
        """
        program = cls(**caps)
        # Shielded: if cancelled between fork and bookkeeping, the program would keep running with
        # nothing to end it.
        starting = asyncio.ensure_future(program._start(argv, env, cwd, pass_fds))
        try:
            fault = await asyncio.shield(starting)
        except asyncio.CancelledError:
            await asyncio.wait({starting})
            await program.close(grace=0)
            raise
        return program if fault is None else fault

    async def _start(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None,
        cwd: Path | None,
        pass_fds: Sequence[int],
    ) -> Fault | None:
        marked = {**(os.environ if env is None else env), MARK: self.mark}
        try:
            await self._loop.subprocess_exec(
                lambda: self, *argv, env=marked, cwd=cwd, pass_fds=pass_fds, **OWN_GROUP
            )
        except (OSError, ValueError) as error:
            return Fault("startup", f"the program {argv[0]!r} cannot be started: {error}")
        return None

    async def __aenter__(self) -> Self:
        """Return the program, to be closed at the end of the block."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close the program."""
        await self.close()

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self._transport.get_pid()

    @property
    def gone(self) -> Fault | None:
        """Why the bot cannot continue, as far as is known yet; None if it can."""
        if self._exit_code is not None:
            detail = f"{describe_exit(self._exit_code)}{self._why()}{self._last_words()}"
            cause = CAUSE if self._exit_code and self.limit else ""
            return Fault("crashed" if self._exit_code else "disconnected", detail, cause)
        for pipe, name in ((STDOUT, "output"), (STDIN, "input")):
            if pipe not in self._open:
                # A process killed for using too much memory closes its pipes before the memory is
                # freed.
                limit = f"; {self.limit}" if self.limit else ""
                return Fault(
                    "disconnected", f"it closed its standard {name}, but keeps running{limit}"
                )
        return None

    async def ended(self, seconds: float = SETTLE) -> Fault | None:
        """Return how the program ended, if it has or does so within `seconds`.

        A program that serves or asks over HTTP may close its pipes and keep running.
        """
        await self._exited(seconds)
        return None if self._exit_code is None else await self.wait_ended()

    async def close(self, grace: float = GRACE, patience: float = 0.0) -> None:
        """End the program and everything it started; nothing of it is running afterwards.

        Standard input is closed; `patience` seconds later its process group gets SIGTERM, and
        `grace` seconds later it is killed. A program in bubblewrap dies immediately on SIGTERM,
        with all its descendants. Without bubblewrap, processes that left the group (setsid) are
        found on Linux by a mark in their environment and killed; one that has also cleared its
        environment escapes, and so do all of them on other systems. On Windows it gets the longer
        of the two times to end by itself, then it is killed with everything it started.
        """
        # Several callers may close concurrently: match, pool and signal handler share one ending.
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end(grace, patience))
        try:
            await asyncio.shield(self._ending)
        except asyncio.CancelledError:
            self._kill()
            await asyncio.wait({self._ending})
            raise

    async def wait_ended(self) -> Fault:
        """Wait until the program has ended, whatever its pipes do; return how it ended."""
        while self._exit_code is None:
            await self._changed()
        await self._settle()
        return self.gone or Fault("crashed")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transports of the program's pipes."""
        self._started = True
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._stdin = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(STDIN))
        self._stdout = cast("asyncio.ReadTransport", self._transport.get_pipe_transport(STDOUT))
        # Makes asyncio call `resume_writing` only when the whole line is in the pipe, not just most
        # of it.
        self._stdin.set_write_buffer_limits(high=0)
        self._stdout.set_protocol(PromptOutput(self, self._stdout.get_protocol()))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Process output."""
        if fd == STDERR:
            self.stderr.feed(data)
        else:
            self._read(data)
            self._change.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Record a closed pipe."""
        self._open.discard(fd)
        self._change.set()

    def process_exited(self) -> None:
        """Record the exit code, and kill what the program left behind in its group."""
        self._exit_code = self._transport.get_returncode()
        if ASKS_BY_SIGNAL:
            kill_group(self.pid, KILL)
        self._change.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Record that the program has ended and all its pipes are closed."""
        self._finished.set()
        self._change.set()

    def _read(self, data: bytes) -> None:
        raise NotImplementedError

    def _read_on(self) -> None:
        """Discard all further output, so that the program cannot block on it."""
        raise NotImplementedError

    async def _settle(self) -> None:
        """Wait briefly, only once, for both the exit code and the last bytes."""
        if not self._settled:
            self._settled = True
            with suppress(TimeoutError):
                async with asyncio.timeout(SETTLE):
                    while self._exit_code is None or self._open & {STDOUT, STDERR}:
                        await self._changed()

    async def _changed(self) -> None:
        self._change.clear()
        await self._change.wait()

    async def _wait(self, seconds: float) -> None:
        """Wait for the next change, at most `seconds`."""
        # Cheaper than asyncio.timeout; other waiters are woken too, and simply check again.
        alarm = self._loop.call_later(seconds, self._change.set)
        try:
            await self._changed()
        finally:
            alarm.cancel()

    @property
    def exception(self) -> str:
        """The last exception in its error output, on one line; "" if there is none."""
        raised = self._last_raised()
        return raised.sentence if raised else ""

    def _last_raised(self) -> Raised | None:
        # Cached, as an ended program is asked every turn how it ended.
        if self._searched != self.stderr.length:
            self._searched = self.stderr.length
            self._raised = last_exception(self.stderr.end(SEARCHED))
        return self._raised

    @property
    def limit(self) -> str:
        """The limit it reached, what is allowed and what to do, as text; "" if none."""
        return self._bounds.met((self.exception, self.stderr.end(LIMIT_SEARCHED)), self._exit_code)

    def _why(self) -> str:
        if not self._exit_code:
            return ""
        exception = f": {self.exception}" if self.exception else ""
        return f"{exception}; {self.limit}" if self.limit else exception

    def _last_words(self) -> str:
        """Return its error output from the last exception on, reduced to head and tail if long."""
        raised = self._last_raised()
        lines = self.stderr.end(SEARCHED).split("\n")
        quote = HeadAndTail(QUOTED)
        quote.feed("\n".join(lines[raised.at if raised else 0 :]).encode())
        return f"{ERROR_OUTPUT}{quote.text()}" if quote.length else ""

    async def _end(self, grace: float, patience: float) -> None:
        if not self._started:
            return
        try:
            self._read_on()
            self._stdin.close()
            await self._exited(patience if ASKS_BY_SIGNAL else max(patience, grace))
            self._terminate()
            await self._exited(grace)
            self._kill()
            await self._exited(REAP)
            if self._stdin.get_write_buffer_size():
                self._stdin.abort()
        finally:
            # Also if the event loop ends in the meantime and cancels this.
            self._transport.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._finished.wait(), REAP)

    async def _exited(self, seconds: float) -> None:
        """Wait until the program has ended, at most `seconds`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._exit_code is None:
                    await self._changed()

    def _terminate(self) -> None:
        if self._exit_code is None:
            kill_group(self.pid, signal.SIGTERM)

    def _kill(self) -> None:
        if self._exit_code is None:
            kill_group(self.pid, KILL)
            if not ASKS_BY_SIGNAL:
                # On other systems this would first reap the process, and asyncio would not learn
                # how it ended.
                with suppress(ProcessLookupError):
                    self._transport.kill()
        # Last, as it reads all of /proc: daemons that left the group carry the mark in their
        # environment.
        kill_marked(self.mark)


def on_one_line(detail: str) -> str:
    r"""Return a fault's message, adding the last line of the error output if no exception is named.

    >>> on_one_line("exit code 1; the end of its error output: import numpy\nno module numpy\n")
    'exit code 1: no module numpy'
    >>> on_one_line("KeyError: 3 (bot.py, line 7); the end of its error output: KeyError: 3")
    'KeyError: 3 (bot.py, line 7)'
    """
    sentence, _, output = detail.partition(ERROR_OUTPUT)
    last = output.strip().rpartition("\n")[2]
    return sentence if last in sentence else f"{sentence}: {last}"
