"""Worker processes, and the series of matches between the same bots that they play."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from itertools import chain
from typing import Final, Literal, TypeAlias, TypeVar

import msgspec

from cw import documents
from cw.arena.transports.stdio import Answer, StdioBot
from cw.errors import ArenaError, CapacityError, Failure, UsageError
from cw.matches.run import OnLaunch
from cw.matches.spec import MatchFault, MatchResult, MatchSpec
from cw.matches.worker import Job

WORKER: Final = (sys.executable, "-m", "cw.matches.worker")

LONGEST_SILENCE: Final = 24 * 3600.0
"""Seconds of silence after which a worker is given up; the limit of every turn is far shorter."""

LEAVING: Final = 5.0
"""Seconds for workers to end the bots of their matches and to tidy up."""

LONGEST_LINE: Final = 1 << 29
"""Maximum bytes of a worker's line: a result contains the replay, of up to 256 MiB."""

Spectate: TypeAlias = Callable[[str], None]
"""Called with the URL where a match in progress can be watched."""


ERRORS: Final[Mapping[str, type[ArenaError]]] = {
    "usage": UsageError,
    "capacity": CapacityError,
    "failure": Failure,
}


class MatchFailure(msgspec.Struct, frozen=True):
    """Why a match could not be played."""

    kind: Literal["usage", "capacity", "failure"]
    message: str
    is_lost: bool = False
    """Whether its worker was lost: another worker may succeed."""

    def error(self) -> ArenaError:
        """Return the error that the match would have raised in this process."""
        return ERRORS[self.kind](self.message)


class Launched(msgspec.Struct, frozen=True):
    """A program that was started for a bot."""

    bot: str
    protection: str


class Judgement(msgspec.Struct, frozen=True):
    """The fault of a bot in a match that ends with its first one."""

    fault: MatchFault | None


class WorkerLine(msgspec.Struct, frozen=True):
    """A line from a worker: the progress of a match, or its end."""

    launched: Launched | None = None
    spectate: str | None = None
    result: MatchResult | None = None
    judgement: Judgement | None = None
    error: MatchFailure | None = None

    @property
    def is_last(self) -> bool:
        """Whether the match is over."""
        return any((self.result, self.judgement, self.error))


NO_END: Final = MatchFailure("failure", "its worker sent an unexpected result")


class Workers:
    """Starts a process for each concurrent match, and ends them all."""

    def __init__(self) -> None:
        """Create the pool without starting any worker."""
        self._all: list[StdioBot] = []
        self._idle: list[StdioBot] = []
        self._warnings: list[str] = []

    async def play(
        self,
        job: Job,
        *,
        spectate: Spectate = lambda _: None,
        on_launch: OnLaunch = lambda *_: None,
    ) -> MatchResult | MatchFailure:
        """Play a match on a worker; raise Failure if no worker can be started."""
        end = await self._end_of(job, spectate, on_launch)
        return end.result or end.error or NO_END

    async def judge(self, job: Job) -> MatchFault | MatchFailure | None:
        """Play a match on a worker up to the first fault of the judged bot; return the fault.

        Raises Failure if no worker can be started.
        """
        end = await self._end_of(job)
        return end.judgement.fault if end.judgement else end.error or NO_END

    async def _end_of(
        self,
        job: Job,
        spectate: Spectate = lambda _: None,
        on_launch: OnLaunch = lambda *_: None,
    ) -> WorkerLine:
        """Play a match on a worker; return the worker's last line about it."""
        bots = {bot.name: bot for bot in job.spec.bots}
        worker = self._idle.pop() if self._idle else await self._start()
        fault = await worker.send(job.line(), LONGEST_SILENCE)
        if fault is not None:
            return WorkerLine(error=lost(worker, fault.detail))
        while True:
            answer = await worker.receive(LONGEST_SILENCE)
            if not isinstance(answer, Answer):
                return WorkerLine(error=lost(worker, answer.detail))
            try:
                # A result contains a replay of many megabytes: decoding it here would stall all
                # other matches.
                line = await asyncio.to_thread(documents.decode, answer.line, WorkerLine)
            except msgspec.DecodeError as error:
                failure = lost(worker, f"it wrote an unreadable line: {error}")
                return WorkerLine(error=failure)
            if line.launched is not None:
                on_launch(bots[line.launched.bot], line.launched.protection)
            if line.spectate is not None:
                spectate(line.spectate)
            if line.is_last:
                # A failed worker does not return to the idle ones: its state is unknown.
                self._idle.append(worker)
                return line

    async def _start(self) -> StdioBot:
        worker = await StdioBot.start(WORKER, line_cap=LONGEST_LINE, flood_cap=LONGEST_LINE)
        if not isinstance(worker, StdioBot):
            raise Failure(f"a worker cannot be started: {worker.detail}")
        self._all.append(worker)
        return worker

    def warnings(self) -> list[str]:
        """Return the lines on the standard error of workers, each once."""
        outputs = (worker.stderr.text().splitlines() for worker in self._all)
        lines = map(str.strip, chain.from_iterable(outputs))
        return list(dict.fromkeys((*self._warnings, *filter(None, lines))))

    async def close(self) -> None:
        """End all workers, and with them the matches in progress."""
        # What a process writes while it is being ended is not a warning.
        self._warnings = self.warnings()
        ending, self._all = self._all, []
        await asyncio.gather(*(worker.close(grace=LEAVING) for worker in ending))


def lost(worker: StdioBot, detail: str) -> MatchFailure:
    """Return the failure of a match whose worker was lost, with the end of its output."""
    output = worker.stderr.end(500)
    return MatchFailure(
        "failure", f"its worker failed: {detail}" + (f"\n{output}" if output else ""), is_lost=True
    )


AHEAD: Final = 4
"""Matches per process that may finish before an earlier one does; their replays are buffered."""

T = TypeVar("T")


def series(spec: MatchSpec, games: int, *, swap: bool) -> Iterator[MatchSpec]:
    """Yield the requested matches: each seed once, or once from every seat.

    >>> from cw.arena.bots import read_bots
    >>> bots = tuple(read_bots(["builtin:greedy", "builtin:random"]).bots)
    >>> spec = MatchSpec("m", "hexagon", bots, seed=1)
    >>> [(match.seed, match.bots[0].name) for match in series(spec, 2, swap=True)]
    [(1, 'greedy'), (1, 'random'), (2, 'greedy'), (2, 'random')]
    """
    bots = spec.bots
    for number in range(games):
        for shift in range(len(bots) if swap else 1):
            order = (*bots[shift:], *bots[:shift])
            yield msgspec.structs.replace(
                spec, id=f"{spec.id}-{number}-{shift}", bots=order, seed=spec.seed + number
            )


async def play_at_once(
    jobs: Sequence[Job],
    most: int,
    keep: Callable[[int, MatchResult], T],
    tell: Callable[[T], None],
    on_launch: OnLaunch,
) -> list[str]:
    """Play matches, at most `most` concurrently; return the warnings of their processes.

    `tell` is called with what `keep` returns (see `at_once`). Nothing of the matches is running
    afterwards, even if cancelled.
    """
    workers = Workers()
    try:
        async with aclosing(at_once(workers, jobs, most, keep, on_launch)) as results:
            async for result in results:
                tell(result)
    finally:
        await workers.close()
    return workers.warnings()


async def at_once(
    workers: Workers,
    jobs: Iterable[Job],
    most: int,
    keep: Callable[[int, MatchResult], T],
    on_launch: OnLaunch,
) -> AsyncGenerator[T, None]:
    """Play matches on workers, at most `most` concurrently; yield what `keep` returns, in order.

    `keep` is called with the number and the result of each match as soon as it is over, on a
    thread. To leave early, close the generator, then the workers: they may be playing a match. A
    match whose worker was lost is retried once. Raises the error of the first match in order that
    cannot be played.
    """
    room = asyncio.Semaphore(most)

    async def play(number: int, job: Job) -> T:
        async with room:
            outcome = await workers.play(job, on_launch=on_launch)
            if isinstance(outcome, MatchFailure) and outcome.is_lost:
                # The system may have killed the worker because memory ran out; a match can be
                # played again.
                outcome = await workers.play(job, on_launch=on_launch)
        if isinstance(outcome, MatchFailure):
            raise outcome.error()
        # The next match starts in the meantime: syncing a line takes as long as a short match.
        return await asyncio.to_thread(keep, number, outcome)

    playing: deque[asyncio.Task[T]] = deque()
    try:
        for number, job in enumerate(jobs):
            playing.append(asyncio.create_task(play(number, job)))
            if len(playing) == AHEAD * most:
                yield await playing.popleft()
        while playing:
            yield await playing.popleft()
    finally:
        for match in playing:
            match.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
