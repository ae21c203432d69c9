"""`cw championship validate`: the teams before they play."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Final

import click

from cw.arena.bots import BotSpec
from cw.arena.one_line import on_one_line
from cw.arena.sandbox import Sandbox
from cw.championship.teams import Team, UnfitTeam, read_each
from cw.cli.championship.options import GAME, PLACE
from cw.cli.options import OPTION, SANDBOX, read_option
from cw.games.registry import load_endings, load_game, load_strategies
from cw.games.rules import Json
from cw.matches.processes.worker import Job
from cw.matches.processes.workers import MatchFailure, Workers
from cw.matches.spec import Isolation, MatchSpec, SandboxPolicy
from cw.visible import visible

RANDOM: Final = "random"


@click.command("validate")
@click.argument("place", metavar="DIR|TEAMS.toml", type=PLACE)
@GAME
@OPTION
@SANDBOX
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each team.")
def validate_command(
    place: Path, game: str, options: tuple[str, ...], sandbox: SandboxPolicy, as_json: bool
) -> None:
    """Let every team play a match against random moves, and report all problems.

    Exit code 1 if a team fails.
    """
    chosen = ({"size": 5} if game == "circuit-wars" else {}) | dict(map(read_option, options))
    problem = Sandbox(sandbox).problem()
    if problem is not None:
        click.echo(f"LIMITS ONLY: programs can read your files ({problem})", err=True)
    trial = Trial(game, chosen, Isolation(sandbox))
    failed = asyncio.run(validated(read_each(place, game), trial, as_json))
    if failed:
        raise SystemExit(1)


@dataclass(frozen=True, slots=True)
class Trial:
    """The match that each team plays."""

    game: str
    options: dict[str, Json]
    isolation: Isolation


async def validated(teams: Sequence[Team | UnfitTeam], trial: Trial, as_json: bool) -> int:
    """Try all teams, print what comes of it, and return how many have failed."""
    failed = 0
    async for team, problem in problems(teams, trial):
        failed += problem is not None
        document = {"team": team.id, "ok": problem is None, "problem": problem}
        click.echo(json.dumps(document) if as_json else visible(in_words(team, problem)))
    if failed and not as_json:
        click.echo(f"{failed} of {len(teams)} teams did not pass", err=True)
    return failed


def in_words(team: Team | UnfitTeam, problem: str | None) -> str:
    """Return a line about a team: by its name, and by its id where that differs."""
    name = team.name if isinstance(team, Team) else team.id
    who = team.id if name == team.id else f"{name} ({team.id})"
    return f"{who}: {'ok' if problem is None else on_one_line(problem)}"


async def problems(
    teams: Sequence[Team | UnfitTeam], trial: Trial
) -> AsyncIterator[tuple[Team | UnfitTeam, str | None]]:
    """Let each team play, and yield what is wrong with it, None if nothing is."""
    workers = Workers()
    try:
        for team in teams:
            if isinstance(team, UnfitTeam):
                yield team, team.problem
            else:
                yield team, await why_unfit(team, trial, workers)
    finally:
        await workers.close()


async def why_unfit(team: Team, trial: Trial, workers: Workers) -> str | None:
    """Return what went wrong in a team's match, None if nothing did."""
    spec = MatchSpec(
        id=f"validate-{team.id}",
        game=trial.game,
        bots=(team.bot, *opponents(team.id, trial.game)),
        seed=1,
        options=trial.options,
        isolation=trial.isolation,
    )
    outcome = await workers.play(Job(spec, {team.id: team.secrets}))
    if isinstance(outcome, MatchFailure):
        return outcome.message
    faults = outcome.faults_of(0)
    if not faults:
        return None
    turn = load_endings(trial.game).turn_after(faults[0].turn)
    return f"{turn}: {faults[0].kind}: {faults[0].detail}"


def opponents(team: str, game: str) -> list[BotSpec]:
    """Return as many built-in players as the game needs beside a team: random ones, if it has."""
    strategies = load_strategies(game)
    chosen = RANDOM if RANDOM in strategies else next(iter(strategies))
    names = (name for number in count(1) if (name := f"opponent-{number}") != team)
    needed = max(2, load_game(game).rules.seats[0]) - 1
    return [BotSpec(name, "builtin", chosen) for name in islice(names, needed)]
