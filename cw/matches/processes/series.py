"""Several matches between the same bots: which they are, and how they run on several processes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import Final, TypeVar

import msgspec

from cw.matches.processes.worker import Job
from cw.matches.processes.workers import MatchFailure, Workers
from cw.matches.run import OnLaunch
from cw.matches.spec import MatchResult, MatchSpec

AHEAD: Final = 4
"""Matches per process that may finish before an earlier one does; their replays are held."""

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
    """Play matches, at most `most` at once; return the warnings of their processes.

    `tell` is called with what `keep` returns (see `at_once`). Afterwards, even if cancelled,
    nothing of the matches runs.
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
    """Play matches on workers, at most `most` at once; yield what `keep` returns, in order.

    `keep` is called with the number and the result of each match as soon as it is over, on a
    thread. To leave early, close the generator, then the workers: they may be within a match. A
    match whose worker is gone is retried once. Raises the error of the first match in order that
    cannot be played.
    """
    room = asyncio.Semaphore(most)

    async def play(number: int, job: Job) -> T:
        async with room:
            outcome = await workers.play(job, on_launch=on_launch)
            if isinstance(outcome, MatchFailure) and outcome.is_lost:
                # The system may have killed the worker, for want of memory; a match can be played
                # again.
                outcome = await workers.play(job, on_launch=on_launch)
        if isinstance(outcome, MatchFailure):
            raise outcome.error()
        # The next match begins meanwhile: syncing a line takes as long as a short match.
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
