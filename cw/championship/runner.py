"""Runs a championship: scheduling, concurrency, storage and resumption; validates teams before."""

from __future__ import annotations

import asyncio
import os
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count, islice
from shutil import rmtree
from statistics import fmean
from typing import Final, Protocol, TypeAlias

from cw.arena.bots import BotSpec
from cw.arena.program import on_one_line
from cw.arena.sandbox import Sandbox
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
from cw.championship.recorded import log_of
from cw.championship.report_document import gathered
from cw.championship.teams import Team
from cw.files import make_folder, write_whole
from cw.games.registry import load_endings, load_game, load_protocol, load_strategies
from cw.games.rules import Json
from cw.league.fixtures import Fixture, open_fixtures
from cw.matches.spec import Isolation, MatchResult, MatchSpec, SandboxPolicy
from cw.matches.worker import Job
from cw.matches.workers import MatchFailure, Workers
from cw.replays import document

REMEMBERED: Final = 60
"""Number of latest matches on which the time estimate is based."""

FEWEST: Final = 3
"""Minimum number of matches for an estimate."""

TRIMMED: Final = 0.1
"""Share of the shortest and of the longest matches to ignore: a match that hangs is not typical."""


class Pace:
    """Estimates the remaining time from the durations of matches."""

    def __init__(self) -> None:
        """Start without any matches."""
        self._seconds: deque[float] = deque(maxlen=REMEMBERED)

    def add(self, seconds: float) -> None:
        """Record how long a match lasted."""
        self._seconds.append(seconds)

    def seconds_left(self, waiting: int, running: int, lanes: int) -> float | None:
        """Return the seconds until all matches are over, or None while too few have ended.

        `lanes` matches are played concurrently; matches in progress count for half.
        """
        if len(self._seconds) < FEWEST:
            return None
        lanes = max(1, min(lanes, waiting + running))
        return trimmed_mean(self._seconds) * (waiting + running / 2) / lanes


def trimmed_mean(numbers: deque[float]) -> float:
    """Return the mean without the lowest and the highest numbers."""
    cut = round(len(numbers) * TRIMMED)
    return fmean(sorted(numbers)[cut : len(numbers) - cut])


def in_words(seconds: float) -> str:
    """Return a rounded duration as text, such as `about 5 min`."""
    if seconds < 50:
        return "less than a minute"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"about {minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"about {hours} h" + (f" {rest} min" if rest else "")


ATTEMPTS: Final = 2
"""Number of attempts at a match that fails for a reason that may be temporary."""

Watch: TypeAlias = Callable[[Progress], None]

Note: TypeAlias = Callable[[str | None], None]
"""Called when a match starts, with the URL where it can be watched, or None."""


class Players(Protocol):
    """Plays the matches of a championship: in our own processes, or on remote workers."""

    @property
    def room(self) -> int:
        """Maximum number of matches that may be requested at the same time."""

    @property
    def lanes(self) -> int:
        """Number of requested matches that are played concurrently."""

    def is_known(self, match: str) -> bool:
        """Return whether an earlier run has requested the match with this specification id."""

    async def play(self, job: Job, note: Note) -> MatchResult | MatchFailure | None:
        """Play a match; return None if it was cancelled before it started."""

    def stop(self) -> None:
        """Cancel all matches that have not started."""

    def warnings(self) -> Sequence[str]:
        """Return all warnings, each once."""

    async def close(self) -> None:
        """Cancel all matches that are not over."""


class OwnProcesses:
    """A limited number of local processes."""

    def __init__(self, lanes: int) -> None:
        """Create no process yet."""
        self.room = self.lanes = lanes
        self._workers = Workers()

    def is_known(self, match: str) -> bool:
        """Return False, because these processes end with their run."""
        return False

    async def play(self, job: Job, note: Note) -> MatchResult | MatchFailure:
        """Play a match; retry if it fails, unless the request is invalid."""
        note(None)
        for _ in range(ATTEMPTS):
            outcome = await self._workers.play(job, spectate=note)
            # An invalid specification would fail again in the same way; a lost process might not.
            if isinstance(outcome, MatchResult) or outcome.kind == "usage":
                break
        return outcome

    def stop(self) -> None:
        """Do nothing: these processes start matches as soon as they are requested."""

    def warnings(self) -> list[str]:
        """Return the warnings of the processes."""
        return self._workers.warnings()

    async def close(self) -> None:
        """Stop the processes."""
        await self._workers.close()


class Runner:
    """Plays the remaining matches of a championship."""

    def __init__(
        self, journal: Journal, teams: Sequence[Team], players: Players, watch: Watch
    ) -> None:
        """Prepare the run without starting a match."""
        self.journal = journal
        self.settings = journal.settings
        self.teams = {team.id: team for team in teams}
        self.players = players
        self.watch = watch
        self.stopping = False
        self.failed: dict[Fixture, str] = {}
        self.asked: dict[asyncio.Task[Entry | MatchFailure | None], Fixture] = {}
        self.began: dict[Fixture, float] = {}
        self.watched: dict[Fixture, str] = {}
        self.pace = Pace()
        self.earlier = load_progress(journal.folder).warnings
        self.todo: list[Fixture] = []

    def stop(self) -> None:
        """Start no more matches; let those in progress finish."""
        self.stopping = True
        self.players.stop()

    async def run(self) -> None:
        """Play until no playable match is left, or until stopped.

        Raises Failure if this host fails; finished matches are kept.
        """
        self.forget_live()
        make_folder(self.journal.folder / LIVE)
        try:
            while True:
                self.ask_for_matches()
                self.tell()
                if not self.asked:
                    return
                finished, _ = await asyncio.wait(self.asked, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    self.settle(self.asked.pop(task), task.result())
        finally:
            await self.close()

    def ask_for_matches(self) -> None:
        """Request as many matches as the players accept."""
        if self.stopping:
            return
        if not self.todo:
            self.todo = self.open_fixtures()
        while len(self.asked) < self.players.room and (fixture := self.startable()) is not None:
            self.todo.remove(fixture)
            self.asked[asyncio.create_task(self.play(fixture))] = fixture

    def open_fixtures(self) -> list[Fixture]:
        """Return the matches that can be played, are not requested yet, and have not failed.

        Those requested by an earlier run come first: none of their bots may get another match in
        the meantime.
        """
        results = self.journal.results
        known = open_fixtures(self.settings.contest().rounds(results), results)
        # Failed matches are not retried in this run, so that a faulty host cannot cause an endless
        # loop; `resume` retries them.
        apart = {*self.asked.values(), *self.failed}
        fixtures = [fixture for fixture in known if fixture not in apart]
        return sorted(fixtures, key=lambda fixture: not self.players.is_known(stem_of(fixture)))

    def startable(self) -> Fixture | None:
        """Return the first match whose bots can all play another match concurrently, or None."""
        busy = Counter(chain.from_iterable(fixture.players for fixture in self.asked.values()))
        free = (f for f in self.todo if all(self.has_room(team, busy[team]) for team in f.players))
        return next(free, None)

    def has_room(self, team: str, playing: int) -> bool:
        """Return whether a bot that is playing `playing` matches can play another one."""
        most = self.teams[team].parallel
        return most is None or playing < most

    def settle(self, fixture: Fixture, outcome: Entry | MatchFailure | None) -> None:
        """Record a finished match, or why it could not be played."""
        self.began.pop(fixture, None)
        self.watched.pop(fixture, None)
        if isinstance(outcome, MatchFailure):
            self.failed[fixture] = outcome.message
        elif outcome is not None:
            self.journal.add(outcome)

    def tell(self) -> None:
        """Report the progress to the `watch` callback."""
        self.watch(self.progress())

    def progress(self) -> Progress:
        """Return the current progress."""
        running = {fixture: self.watched.get(fixture) for fixture in self.began}
        done = len(self.journal.entries)
        expected = self.settings.contest().expected(self.journal.results)
        waiting = expected - done - len(running) - len(self.failed)
        return Progress(
            done,
            running,
            len(self.todo) + len(self.asked) - len(running),
            dict(self.failed),
            expected,
            self.pace.seconds_left(waiting, len(running), self.players.lanes),
            self.warnings(),
        )

    def warnings(self) -> list[str]:
        """Return the players' warnings, including those from before a resumption."""
        lines = gathered((*self.earlier, *self.players.warnings()), self.settings.teams)
        return [shortened(line) for line in lines[:MOST_WARNINGS]]

    async def play(self, fixture: Fixture) -> Entry | MatchFailure | None:
        """Have a match played, and store its files; return None if it was cancelled."""
        job, clock = self.job(fixture), asyncio.get_running_loop().time
        outcome = await self.players.play(job, partial(self.note, fixture))
        if not isinstance(outcome, MatchResult):
            return outcome
        if fixture in self.began:
            self.pace.add(clock() - self.began[fixture])
        entry = entry_of(fixture, job.spec.seed, outcome)
        await asyncio.to_thread(self.keep, entry, outcome)
        return entry

    def note(self, fixture: Fixture, address: str | None) -> None:
        """Record that a match has started, and where it can be watched."""
        is_known = fixture in self.began
        self.began.setdefault(fixture, asyncio.get_running_loop().time())
        if address is not None and self.watched.get(fixture) != address:
            self.watched[fixture] = address
            is_known = False
        if not is_known:
            self.tell()

    def job(self, fixture: Fixture) -> Job:
        """Return the job with which a worker plays a match."""
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
        """Write the replay of a match and, for Circuit Wars, its moves."""
        stem = self.journal.folder / MATCHES / stem_of(entry.fixture)
        if self.settings.game == "circuit-wars":
            write_whole(stem.with_suffix(".log"), log_of(entry, result).encode())
        named = document.with_names(result.replay, self.settings.names)
        write_whole(stem.with_suffix(".json.gz"), document.encode(named, packed=True))

    async def close(self) -> None:
        """Cancel the matches in progress, and close the players."""
        for task in self.asked:
            task.cancel()
        await asyncio.gather(*self.asked, return_exceptions=True)
        self.asked.clear()
        self.began.clear()
        await self.players.close()
        self.forget_live()

    def forget_live(self) -> None:
        """Remove the files of matches in progress, including those of a killed run."""
        rmtree(self.journal.folder / LIVE, ignore_errors=True)


def lanes_of(game: str, sandbox: SandboxPolicy, wanted: int) -> int:
    """Return how many matches this host plays concurrently, at most `wanted`.

    If bots connect to a server of ours, playing more than one requires bubblewrap. Raises
    UsageError if bubblewrap is required and missing.
    """
    has_clients = "client" in load_protocol(game).transports
    return 1 if has_clients and Sandbox(sandbox).problem() is not None else wanted


def cores() -> int:
    """Return this host's number of cores, or 1 if unknown."""
    return os.cpu_count() or 1


RANDOM: Final = "random"

CLIENTS: Final = 4
"""Number of clients tried concurrently, per core."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The progress of a validation."""

    total: int
    """Number of teams to try."""
    done: int = 0
    failed: int = 0
    """Number of teams that have failed so far."""


WatchTrials: TypeAlias = Callable[[Tried], None]


@dataclass(frozen=True, slots=True)
class Trial:
    """A team's trial match: against random moves, up to the team's first fault."""

    game: str
    options: dict[str, Json]
    isolation: Isolation
    seats: int | None = None
    """Number of players; None for the minimum that the game allows."""

    def job(self, team: Team) -> Job:
        """Return the job with which a worker plays a team's trial match."""
        spec = MatchSpec(
            id=f"validate-{team.id}",
            game=self.game,
            bots=(team.bot, *self.opponents(team.id)),
            seed=1,
            options=self.options,
            isolation=self.isolation,
        )
        return Job(spec, {team.id: team.secrets}, judged=0)

    def opponents(self, team: str) -> list[BotSpec]:
        """Return the built-in opponents of a team: random players, if the game has them."""
        strategies = load_strategies(self.game)
        chosen = RANDOM if RANDOM in strategies else next(iter(strategies))
        names = (name for number in count(1) if (name := f"opponent-{number}") != team)
        seats = self.seats or max(2, load_game(self.game).rules.seats[0])
        return [BotSpec(name, "builtin", chosen) for name in islice(names, seats - 1)]


def lanes_for(game: str, sandbox: SandboxPolicy, jobs: int | None) -> int:
    """Return how many teams are tried concurrently: by default, one per core.

    Clients allow more, as they pause before each request.
    """
    usual = cores() * (CLIENTS if "client" in load_protocol(game).transports else 1)
    return lanes_of(game, sandbox, jobs or usual)


@dataclass(slots=True)
class Validation:
    """Tries several teams concurrently, and retries those that fail, one at a time."""

    trial: Trial
    lanes: int
    watch: WatchTrials
    _workers: Workers = field(default_factory=Workers)

    async def problems(self, teams: Sequence[Team]) -> dict[str, str]:
        """Return the problems of the teams that cannot play, by team id.

        Leaves no process running, even when cancelled. Raises Failure if this host fails.
        """
        places, tried = asyncio.Semaphore(self.lanes), Tried(len(teams))
        suspects: list[Team] = []

        async def try_among_others(team: Team) -> None:
            nonlocal tried
            async with places:
                problem = await self.problem_of(team)
            if problem is not None:
                suspects.append(team)
            tried = Tried(tried.total, tried.done + 1, len(suspects))
            self.watch(tried)

        self.watch(tried)
        tasks = [asyncio.create_task(try_among_others(team)) for team in teams]
        try:
            await asyncio.gather(*tasks)
            # A bot that was too slow alongside others may be fast enough in its own matches.
            again = [(team.id, await self.problem_of(team)) for team in suspects]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._workers.close()
        return {team: problem for team, problem in again if problem is not None}

    async def problem_of(self, team: Team) -> str | None:
        """Return what a team did wrong in its trial match, as one line, or None."""
        fault = await self._workers.judge(self.trial.job(team))
        if isinstance(fault, MatchFailure):
            return on_one_line(fault.message)
        if fault is None:
            return None
        problem = f"{fault.kind}: {fault.detail}"
        if fault.kind == "startup":
            return on_one_line(problem)
        return on_one_line(f"{load_endings(self.trial.game).turn_after(fault.turn)}: {problem}")
