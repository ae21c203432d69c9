"""A championship: who plays when and on how many cores, what is kept, and how it resumes."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from shutil import rmtree
from typing import Final, TypeAlias

from cw.arena.sandbox import Sandbox
from cw.championship.config import ChampionshipSettings
from cw.championship.entries import Entry, entry_of
from cw.championship.journal import (
    LIVE,
    MATCHES,
    MOST_WARNINGS,
    Journal,
    Progress,
    live_file,
    load_progress,
    shortened,
    stem_of,
)
from cw.championship.pace import Pace
from cw.championship.recorded import log_of
from cw.championship.teams import Team
from cw.championship.words import gathered
from cw.files import make_folder, write_whole
from cw.games.registry import load_protocol
from cw.league.fixtures import Fixture, open_fixtures
from cw.matches.spec import Isolation, MatchResult, MatchSpec
from cw.matches.worker import Job
from cw.matches.workers import MatchFailure, Workers
from cw.replays import document as replay

ATTEMPTS: Final = 2
"""How often a match is tried that cannot be played for a reason that may pass."""

Watch: TypeAlias = Callable[[Progress], None]


class Runner:
    """Plays the matches that are left of a championship."""

    def __init__(
        self, journal: Journal, teams: Sequence[Team], capacity: Capacity, watch: Watch
    ) -> None:
        """Play nothing yet."""
        self.journal = journal
        self.settings = journal.settings
        self.teams = {team.id: team for team in teams}
        self.capacity = capacity
        self.watch = watch
        self.stopping = False
        self.failed: dict[Fixture, str] = {}
        self.running: dict[asyncio.Task[Entry | MatchFailure], Fixture] = {}
        self.watched: dict[Fixture, str] = {}
        self.workers = Workers()
        self.pace = Pace(capacity.jobs)
        self.earlier = load_progress(journal.folder).warnings
        self.todo: list[Fixture] = []

    def stop(self) -> None:
        """Begin no new match; those in flight are finished."""
        self.stopping = True

    async def run(self) -> None:
        """Play until nothing is left that can be played, or until told to stop.

        Raises Failure where this machine fails, with everything kept that is over.
        """
        self.forget_live()
        make_folder(self.journal.folder / LIVE)
        try:
            while True:
                self.begin_matches()
                self.tell()
                if not self.running:
                    return
                finished, _ = await asyncio.wait(self.running, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    self.settle(self.running.pop(task), task.result())
        finally:
            await self.close()

    def begin_matches(self) -> None:
        """Begin as many matches as there is room for."""
        if self.stopping:
            return
        if not self.todo:
            self.todo = self.open_fixtures()
        while len(self.running) < self.capacity.jobs and (fixture := self.startable()) is not None:
            self.todo.remove(fixture)
            self.running[asyncio.create_task(self.play(fixture))] = fixture

    def open_fixtures(self) -> list[Fixture]:
        """Return the matches that can be played now, are not, and have not failed."""
        results = self.journal.results
        known = open_fixtures(self.settings.contest().rounds(results), results)
        apart = {*self.running.values(), *self.failed}
        return [fixture for fixture in known if fixture not in apart]

    def startable(self) -> Fixture | None:
        """Return the first match whose bots can all play one more at the same time."""
        busy = Counter(chain.from_iterable(fixture.players for fixture in self.running.values()))
        free = (f for f in self.todo if all(self.has_room(team, busy[team]) for team in f.players))
        return next(free, None)

    def has_room(self, team: str, playing: int) -> bool:
        """Return whether a bot that plays so many matches can play another one."""
        most = self.teams[team].parallel
        return most is None or playing < most

    def settle(self, fixture: Fixture, outcome: Entry | MatchFailure) -> None:
        """Write down a match that is over, or why it could not be played."""
        self.watched.pop(fixture, None)
        if isinstance(outcome, MatchFailure):
            self.failed[fixture] = outcome.message
        else:
            self.journal.add(outcome)

    def tell(self) -> None:
        """Tell how far it has come."""
        self.watch(self.progress())

    def progress(self) -> Progress:
        """Return how far it has come."""
        running = {fixture: self.watched.get(fixture) for fixture in self.running.values()}
        done = len(self.journal.entries)
        expected = self.settings.contest().expected(self.journal.results)
        waiting = expected - done - len(running) - len(self.failed)
        return Progress(
            done,
            running,
            len(self.todo),
            dict(self.failed),
            expected,
            self.pace.seconds_left(waiting, len(running)),
            self.warnings(),
        )

    def warnings(self) -> list[str]:
        """Return what workers have warned of, also before the championship was resumed."""
        lines = gathered((*self.earlier, *self.workers.warnings()), self.settings.teams)
        return [shortened(line) for line in lines[:MOST_WARNINGS]]

    async def play(self, fixture: Fixture) -> Entry | MatchFailure:
        """Play a match, and keep its files."""
        job, clock = self.job(fixture), asyncio.get_running_loop().time
        began = clock()
        outcome = await self.tried(job, fixture)
        if isinstance(outcome, MatchFailure):
            return outcome
        self.pace.add(clock() - began)
        entry = entry_of(fixture, job.spec.seed, outcome)
        await asyncio.to_thread(self.keep, entry, outcome)
        return entry

    async def tried(self, job: Job, fixture: Fixture) -> MatchResult | MatchFailure:
        """Play a match, once more if it fails; what was asked for wrongly fails for good."""

        def spectate(address: str) -> None:
            if self.watched.get(fixture) != address:
                self.watched[fixture] = address
                self.tell()

        for _ in range(ATTEMPTS):
            outcome = await self.workers.play(job, spectate=spectate)
            if isinstance(outcome, MatchResult) or outcome.kind == "usage":
                break
        return outcome

    def job(self, fixture: Fixture) -> Job:
        """Return what a worker needs to play a match."""
        playing = [self.teams[team] for team in fixture.players]
        spec = MatchSpec(
            id=stem_of(fixture),
            game=self.settings.game,
            bots=tuple(team.bot for team in playing),
            seed=self.settings.match_seed(fixture),
            options=self.settings.match_options(fixture),
            isolation=Isolation(self.settings.sandbox),
        )
        secrets = {team.id: team.secrets for team in playing if team.secrets}
        return Job(spec, secrets, str(live_file(self.journal.folder.resolve(), spec.id)))

    def keep(self, entry: Entry, result: MatchResult) -> None:
        """Write the replay of a match, and of Circuit Wars the moves too."""
        stem = self.journal.folder / MATCHES / stem_of(entry.fixture)
        if self.settings.game == "circuit-wars":
            write_whole(stem.with_suffix(".log"), log_of(entry, result).encode())
        write_whole(stem.with_suffix(".json.gz"), replay.encode(result.replay, packed=True))

    async def close(self) -> None:
        """Drop the matches in flight and end all workers."""
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)
        self.running.clear()
        await self.workers.close()
        self.forget_live()

    def forget_live(self) -> None:
        """Remove what told matches in flight, also those of a run that was killed."""
        rmtree(self.journal.folder / LIVE, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many matches are played at the same time, and how programs are kept apart."""

    jobs: int
    problem: str | None
    """Why there is no bubblewrap around programs, None if there is."""


def available(settings: ChampionshipSettings, jobs: int | None) -> Capacity:
    """Return what this machine can do: two cores a match, if no more is asked for.

    Where bots come to a server of ours, more than one match at the same time takes bubblewrap.
    Raises UsageError if that must be there and is not.
    """
    problem = Sandbox(settings.sandbox).problem()
    usual = jobs or max(1, (os.cpu_count() or 2) // 2)
    crowded = problem is not None and "client" in load_protocol(settings.game).transports
    return Capacity(1 if crowded else usual, problem)
