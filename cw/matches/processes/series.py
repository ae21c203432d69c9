"""Several matches between the same bots: which they are, and on how many processes they run."""

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
"""Matches for each process that may be over before an earlier one is; their replays are held."""

T = TypeVar("T")


def series(spec: MatchSpec, games: int, *, swap: bool) -> Iterator[MatchSpec]:
    """Yield the matches that are asked for: each seed once, or once from every seat.

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
    """Play matches, so many of them at the same time; return what their processes warned of.

    `tell` is given what `keep` returns (see `at_once`). Afterwards, also when cancelled, nothing of
    the matches runs.
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
    """Let workers play matches, so many at once; yield what `keep` returns, in their order.

    `keep` is given each result and its number as soon as the match is over, on a thread. Whoever
    leaves early closes the generator, and then the workers: they may be within a match. A match
    whose worker is gone is played once more. Raises the error of the first match in order that
    cannot be played.
    """
    room = asyncio.Semaphore(most)

    async def play(number: int, job: Job) -> T:
        async with room:
            outcome = await workers.play(job, on_launch=on_launch)
            if isinstance(outcome, MatchFailure) and outcome.is_lost:
                # The system may have killed the worker, for want of memory; a match is a value.
                outcome = await workers.play(job, on_launch=on_launch)
        if isinstance(outcome, MatchFailure):
            raise outcome.error()
        # The next match begins meanwhile: a line that is synced takes as long as a short match.
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
