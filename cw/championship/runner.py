"""A championship: who plays when and on how many cores, what is kept, and how it resumes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from cw.arena.sandbox import bubblewrap
from cw.arena.transports.stdio import Answer, StdioBot
from cw.championship.journal import GAMES, SETTINGS, Journal, load_settings, save_settings
from cw.championship.teams import Team, read_teams
from cw.errors import UsageError
from cw.games.rules import Json
from cw.league.fixtures import Fixture, open_fixtures
from cw.league.formats import Contest, make_contest

WORKER: Final = (sys.executable, "-m", "cw.matches.worker")

LONGEST_GAME: Final = 24 * 3600.0
"""Seconds after which a game is given up: every turn has a limit, so none comes near it."""

LEAVING: Final = 5.0
"""Seconds that workers have to end the clients of their games and to tidy up."""

LONGEST_LINE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ChampionshipSettings:
    """What a championship is played with; it never changes once it has begun."""

    teams: tuple[str, ...]
    place: str
    """The folder or file of the teams."""
    format: str = "championship"
    seed: int = 1
    groups: int | None = None
    """Number of groups; None: as many as keep everyone at seven opponents or fewer."""
    openings: int = 0
    """Random segments at the start, the same for both games of a meeting."""
    size: int = 7
    timeout: float = 3.0
    """Seconds for a turn."""

    def contest(self) -> Contest:
        """Make the contest."""
        return make_contest(self.format, self.teams, self.seed, groups=self.groups)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a championship has come."""

    done: int
    running: tuple[Fixture, ...]
    waiting: int
    """Games that could be played now, and are not."""


Watch = Callable[[Progress], None]


def begin(folder: Path, settings: ChampionshipSettings) -> None:
    """Write the settings of a new championship; raise UsageError if there is one already."""
    if (folder / SETTINGS).exists():
        raise UsageError(
            f"{folder} holds a championship already: resume it, or name another folder"
        )
    settings.contest()
    save_settings(folder, asdict(settings))


def settings_of(folder: Path) -> ChampionshipSettings:
    """Read the settings of a championship."""
    said = load_settings(folder)
    try:
        return ChampionshipSettings(**{**said, "teams": tuple(said["teams"])})
    except (TypeError, KeyError) as error:
        raise UsageError(f"{folder}: the settings are broken: {error}") from None


class Runner:
    """Plays the games that are left of a championship."""

    def __init__(
        self,
        journal: Journal,
        settings: ChampionshipSettings,
        teams: Sequence[Team],
        power: Capacity,
        watch: Watch,
    ) -> None:
        """Play nothing yet."""
        self.journal = journal
        self.settings = settings
        self.teams = {team.id: team for team in teams}
        self.power = power
        self.watch = watch
        self.stopping = False
        self.running: dict[asyncio.Task[dict[str, Json]], Fixture] = {}
        self.workers: list[StdioBot] = []
        self.idle: list[StdioBot] = []

    def stop(self) -> None:
        """Begin no new game; those in flight are finished."""
        self.stopping = True

    async def run(self) -> None:
        """Play until nothing is left, or until told to stop."""
        todo: deque[Fixture] = deque()
        try:
            while True:
                if not todo and not self.stopping:
                    todo.extend(self.open_fixtures())
                while todo and len(self.running) < self.power.jobs and not self.stopping:
                    game = todo.popleft()
                    self.running[asyncio.create_task(self.play(game))] = game
                self.watch(Progress(len(self.journal.lines), self.in_flight, len(todo)))
                if not self.running:
                    return
                finished, _ = await asyncio.wait(self.running, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    self.journal.add(self.running.pop(task), task.result())
        finally:
            await self.close()

    @property
    def in_flight(self) -> tuple[Fixture, ...]:
        """The games that are being played."""
        return tuple(self.running.values())

    def open_fixtures(self) -> list[Fixture]:
        """Return the games that can be played now and are not."""
        results = self.journal.results
        known = open_fixtures(self.settings.contest().rounds(results), results)
        flying = set(self.in_flight)
        return [game for game in known if game not in flying]

    async def play(self, game: Fixture) -> dict[str, Json]:
        """Let a worker play a game, and give its line."""
        worker = self.idle.pop() if self.idle else await self.start_worker()
        fault = await worker.send(json.dumps(self.job(game)).encode(), LONGEST_GAME)
        answer = fault or await worker.receive(LONGEST_GAME)
        if not isinstance(answer, Answer):
            raise UsageError(f"a worker failed: {answer.detail}\n{worker.stderr.text()}")
        self.idle.append(worker)
        line: dict[str, Json] = json.loads(answer.line)
        if "error" in line:
            raise UsageError(f"{game.first} against {game.second}: {line['error']}")
        return line

    async def start_worker(self) -> StdioBot:
        """Start a process that plays games."""
        worker = await StdioBot.start(WORKER, line_cap=LONGEST_LINE)
        if not isinstance(worker, StdioBot):
            raise UsageError(f"no worker can be started: {worker.detail}")
        self.workers.append(worker)
        return worker

    def job(self, game: Fixture) -> dict[str, Json]:
        """Say what a worker needs to play a game."""
        bots = [self.teams[team].bot for team in (game.first, game.second)]
        most = self.settings.size**2
        return {
            "bots": [{"name": bot.name, "spec": bot.spec} for bot in bots],
            "seed": f"{self.settings.seed} {game.meeting}",
            "options": {
                "size": self.settings.size,
                "timeout": self.settings.timeout,
                "openings": min(max(self.settings.openings, game.opening), most),
            },
            "walled": self.power.isolated,
            "stem": str((self.journal.folder / GAMES / stem_of(game)).resolve()),
        }

    async def close(self) -> None:
        """Drop the games in flight and end all workers."""
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)
        self.running.clear()
        await asyncio.gather(*(worker.close(patience=LEAVING) for worker in self.workers))


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many games are played at the same time, and how clients are kept apart."""

    jobs: int
    isolated: bool
    """Whether each client has a network of its own; without, one game is played at a time."""


def available(jobs: int | None) -> Capacity:
    """Return what this machine can do: two cores a game, and bubblewrap for more than one."""
    isolated = bubblewrap.problem() is None
    if not isolated:
        return Capacity(1, isolated=False)
    return Capacity(jobs or max(1, (os.cpu_count() or 2) // 2), isolated=True)


def stem_of(game: Fixture) -> str:
    """Name the files of a game."""
    parts = [game.stage, game.group, f"round-{game.round}", game.first, game.second]
    parts += [f"extra-{game.extra}"] if game.extra else []
    return "_".join(re.sub(r"[^A-Za-z0-9-]", "-", part) for part in parts if part)


def chosen_teams(settings: ChampionshipSettings) -> tuple[Team, ...]:
    """Read the teams again; raise UsageError unless they are those of the settings."""
    teams = read_teams(Path(settings.place))
    if tuple(team.id for team in teams) != settings.teams:
        raise UsageError(f"the teams in {settings.place} are not those the championship began with")
    return teams
