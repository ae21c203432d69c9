"""A worker process that plays matches: specifications in, progress and results out, as lines.

An input line is `{"spec": MatchSpec, "secrets"?: {bot: {setting: value}}, "live"?: path}`: with a
path, the match is written there while it is played (`live_file`). The output lines are, for each
program that is started, `{"launched": {"bot": name, "protection": sentence}}`; during a match,
`{"turn": turns played, "spectate": address or null}`; and at its end `{"result": MatchResult}` or
`{"error": {"kind": "usage" | "capacity" | "failure", "message"}}`. With `"judged": NUMBER` a match
ends at the first fault of that bot, and its line is `{"judgement": {"fault": MatchFault or null}}`.

Matches are played one after the other. SIGTERM ends the current match and the process; so does the
loss of its reader, which is noticed at the next line. At the end of standard input the process
plays the matches already requested, and ends.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Final

import msgspec

from cw import documents
from cw.arena.bots import BotSpec
from cw.arena.launch import warn_of
from cw.errors import Abandoned, ArenaError, CapacityError, Failure, ProtocolError
from cw.games.rules import Json
from cw.matches.check import first_fault
from cw.matches.live_file import LiveFile
from cw.matches.progress import MatchProgress, OnTurn
from cw.matches.run import run_match
from cw.matches.spec import LARGEST_SPEC, MatchSpec

STEADY: Final = 0.2
"""Seconds between two lines about the progress of a match; the first is written immediately."""

Say = Callable[[Json], None]


class Job(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An input line: a match, and the secret settings of its bots."""

    spec: MatchSpec
    secrets: dict[str, dict[str, str]] = {}
    live: str | None = None
    """The file to which the match is written while it is played, or None."""
    judged: int | None = None
    """The number of the bot whose first fault ends the match, and is its only result."""

    def line(self) -> bytes:
        """Return the line, without its newline."""
        return msgspec.json.encode(self)


def main() -> None:
    """Play every job on standard input."""
    with suppress(KeyboardInterrupt, BrokenPipeError, asyncio.CancelledError):
        asyncio.run(serve())


async def serve() -> None:
    """Play job after job until there are no more, or until SIGTERM."""
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    if task is not None:
        with suppress(NotImplementedError):
            loop.add_signal_handler(signal.SIGTERM, task.cancel)
    async for line in lines():
        say(await answer(line))


async def lines() -> AsyncIterator[bytes]:
    """Yield the lines of standard input."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes | None] = asyncio.Queue()

    def read() -> None:
        while line := sys.stdin.buffer.readline(LARGEST_SPEC):
            loop.call_soon_threadsafe(queue.put_nowait, line)
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(queue.put_nowait, None)

    # A thread, as an event loop cannot wait for standard input on every system.
    Thread(target=read, name="stdin", daemon=True).start()
    while (line := await queue.get()) is not None:
        yield line


async def answer(line: bytes) -> Json:
    """Play the match that a line requests; return the line of its result."""
    try:
        job = documents.decode(line, Job)
    except msgspec.DecodeError as error:
        return error_line(ProtocolError(f"this is not a job: {error}"))
    try:
        return await (played(job) if job.judged is None else judged(job, job.judged))
    except (ArenaError, OSError) as error:
        return error_line(error)


async def played(job: Job) -> Json:
    """Play a match to its end; return the line of its result."""
    with reporting(job) as tell:
        result = await run_match(
            job.spec, on_turn=tell, on_launch=launched, secrets=job.secrets, spectate=True
        )
    return {"result": result.to_json()}


async def judged(job: Job, bot: int) -> Json:
    """Play a match up to a bot's first fault; return the line about that fault."""
    fault = await first_fault(job.spec, bot, job.secrets, launched)
    return {"judgement": {"fault": fault}}


def launched(bot: BotSpec, protection: str) -> None:
    """Report a program that is started, and warn if it is not isolated."""
    say({"launched": {"bot": bot.name, "protection": protection}})
    warn_of(bot, protection)


@contextmanager
def reporting(job: Job) -> Iterator[OnTurn]:
    """Yield the callback that reports a job's progress; remove the live file afterwards."""
    teller = Teller()
    if job.live is None:
        yield teller
        return
    file = LiveFile(Path(job.live), asyncio.get_running_loop().time)

    def tell(progress: MatchProgress) -> None:
        teller(progress)
        file.watch(progress)

    try:
        yield tell
    finally:
        file.close()


class Teller:
    """Reports the progress of a match, no more often than it can be read."""

    def __init__(self) -> None:
        """Make the first report due immediately."""
        self._next = 0.0

    def __call__(self, progress: MatchProgress) -> None:
        """Report the number of turns, if a report is due."""
        now = asyncio.get_running_loop().time()
        if now >= self._next:
            self._next = now + STEADY
            say({"turn": progress.turns, "spectate": progress.spectate})


def error_line(error: Exception) -> Json:
    """Return the line about an error: its kind, and a message."""
    kind = "usage"
    if isinstance(error, CapacityError):
        kind = "capacity"
    elif isinstance(error, Failure | Abandoned | OSError):
        kind = "failure"
    return {"error": {"kind": kind, "message": str(error)}}


def say(document: Json) -> None:
    """Print a line and flush it."""
    sys.stdout.buffer.write(msgspec.json.encode(document) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
