"""Plays the unfinished matches of an experiment, and records each at once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from cw.lab.journal import Journal, MatchLine, line_of
from cw.matches.processes.series import at_once
from cw.matches.processes.worker import Job
from cw.matches.processes.workers import Workers
from cw.matches.run import OnLaunch
from cw.matches.spec import MatchResult, MatchSpec, Secrets

Save: TypeAlias = Callable[[MatchSpec, MatchResult], None]
"""Stores something of a finished match."""


@dataclass(frozen=True, slots=True)
class Players:
    """A pool of processes that play several matches at the same time."""

    jobs: int
    on_launch: OnLaunch
    workers: Workers = field(default_factory=Workers)

    async def play(
        self,
        specs: Iterable[MatchSpec],
        secrets: Secrets,
        journal: Journal,
        save: Save = lambda *_: None,
    ) -> AsyncGenerator[MatchLine, None]:
        """Play the matches that a journal does not hold; yield each, in order.

        `save` is called on a thread, before a match is recorded.
        """
        asked: dict[int, MatchSpec] = {}

        def jobs() -> Iterator[Job]:
            for spec in specs:
                if spec.id not in journal.lines:
                    asked[len(asked)] = spec
                    yield Job(spec, {name: dict(values) for name, values in secrets.items()})

        def keep(number: int, result: MatchResult) -> MatchLine:
            save(asked[number], result)
            line = line_of(asked[number], result)
            journal.add(line)
            return line

        finished = at_once(self.workers, jobs(), self.jobs, keep, self.on_launch)
        async with aclosing(finished):
            async for line in finished:
                yield line


@asynccontextmanager
async def players(jobs: int, on_launch: OnLaunch) -> AsyncIterator[Players]:
    """Yield a pool of players; stop all its processes after the block, even when cancelled."""
    playing = Players(jobs, on_launch)
    try:
        yield playing
    finally:
        await playing.workers.close()
