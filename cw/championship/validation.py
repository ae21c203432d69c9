"""Tries the teams of a championship before it begins: each plays a separate match."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Final, TypeAlias

from cw.arena.bots import BotSpec
from cw.arena.one_line import on_one_line
from cw.championship.runner import cores, lanes_of
from cw.championship.teams import Team
from cw.games.registry import load_endings, load_game, load_protocol, load_strategies
from cw.games.rules import Json
from cw.matches.processes.worker import Job
from cw.matches.processes.workers import MatchFailure, Workers
from cw.matches.spec import Isolation, MatchSpec, SandboxPolicy

RANDOM: Final = "random"

CLIENTS: Final = 4
"""Clients tried at the same time, per core."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The progress of a validation."""

    total: int
    """Teams to try."""
    done: int = 0
    failed: int = 0
    """Teams that have failed so far."""


Watch: TypeAlias = Callable[[Tried], None]


@dataclass(frozen=True, slots=True)
class Trial:
    """The match that each team plays: against random moves, up to the team's first fault."""

    game: str
    options: dict[str, Json]
    isolation: Isolation
    seats: int | None = None
    """Number of players; None for the fewest that the game allows."""

    def job(self, team: Team) -> Job:
        """Return the job with which a worker plays a team's match."""
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
        """Return a team's built-in opponents in its match: random players, if the game has any."""
        strategies = load_strategies(self.game)
        chosen = RANDOM if RANDOM in strategies else next(iter(strategies))
        names = (name for number in count(1) if (name := f"opponent-{number}") != team)
        seats = self.seats or max(2, load_game(self.game).rules.seats[0])
        return [BotSpec(name, "builtin", chosen) for name in islice(names, seats - 1)]


def lanes_for(game: str, sandbox: SandboxPolicy, jobs: int | None) -> int:
    """Return how many teams are tried at the same time: by default, one per core.

    More for clients, as they pause before each request.
    """
    usual = cores() * (CLIENTS if "client" in load_protocol(game).transports else 1)
    return lanes_of(game, sandbox, jobs or usual)


@dataclass(slots=True)
class Validation:
    """Tries teams, several at the same time, and retries those that fail, one at a time."""

    trial: Trial
    lanes: int
    watch: Watch
    _workers: Workers = field(default_factory=Workers)

    async def problems(self, teams: Sequence[Team]) -> dict[str, str]:
        """Return the problems of the teams that cannot play, by id.

        Afterwards, even if cancelled, nothing of it runs. Raises Failure if this machine fails.
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
            # A bot that was late among others may be quick enough in its own matches.
            again = [(team.id, await self.problem_of(team)) for team in suspects]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._workers.close()
        return {team: problem for team, problem in again if problem is not None}

    async def problem_of(self, team: Team) -> str | None:
        """Return what a team did wrong in its match, as one line, or None."""
        fault = await self._workers.judge(self.trial.job(team))
        if isinstance(fault, MatchFailure):
            return on_one_line(fault.message)
        if fault is None:
            return None
        problem = f"{fault.kind}: {fault.detail}"
        if fault.kind == "startup":
            return on_one_line(problem)
        return on_one_line(f"{load_endings(self.trial.game).turn_after(fault.turn)}: {problem}")
