"""Several matches between the same bots: which they are, and on how many processes they run."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

import msgspec

from cw.matches.run import OnLaunch
from cw.matches.spec import MatchResult, MatchSpec
from cw.matches.worker import Job
from cw.matches.workers import MatchFailure, Workers

AHEAD: Final = 4
"""Matches for each process that may be over before an earlier one is; their replays are held."""

T = TypeVar("T")


def series(spec: MatchSpec, games: int, *, swap: bool) -> Iterator[MatchSpec]:
    """Yield the matches that are asked for: each seed once, or once from every seat."""
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

    `keep` is given each result and its number as soon as the match is over, on a thread; `tell` is
    given what it returns, in the order of the jobs. Afterwards, also when cancelled, nothing of the
    matches runs. Raises the error of the first match in order that cannot be played.
    """
    workers, room = Workers(), asyncio.Semaphore(most)

    async def play(number: int, job: Job) -> T:
        async with room:
            outcome = await workers.play(job, on_launch=on_launch)
            if isinstance(outcome, MatchFailure):
                raise outcome.error()
            return await asyncio.to_thread(keep, number, outcome)

    playing: deque[asyncio.Task[T]] = deque()
    try:
        for number, job in enumerate(jobs):
            playing.append(asyncio.create_task(play(number, job)))
            if len(playing) == AHEAD * most:
                tell(await playing.popleft())
        while playing:
            tell(await playing.popleft())
    finally:
        for match in playing:
            match.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
        await workers.close()
    return workers.warnings()
