"""`cw championship validate`: checks the teams before they play."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import click

from cw.championship.config import usual_options
from cw.championship.runner import Trial, Tried, Validation, lanes_for
from cw.championship.teams import Team, UnfitTeam, read_each
from cw.cli.championship.options import GAME, PLACE, TRIED_AT_ONCE
from cw.cli.championship.players import warn_unprotected
from cw.cli.options import OPTION, SANDBOX, read_option
from cw.cli.output.stderr import Stderr
from cw.errors import visible
from cw.games.registry import load_strategies
from cw.matches.spec import Isolation, SandboxPolicy


@click.command("validate")
@click.argument("place", metavar="DIR|TEAMS.toml", type=PLACE)
@GAME
@OPTION
@SANDBOX
@TRIED_AT_ONCE
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each team.")
def validate_command(
    place: Path,
    game: str,
    options: tuple[str, ...],
    sandbox: SandboxPolicy,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Let every team play a match against random moves, and report all problems.

    A team that fails is tried once more, alone. Exit code 1 if a team fails.
    """
    teams = read_each(place, game)
    trial = Trial(game, usual_options(game, dict(map(read_option, options))), Isolation(sandbox))
    warn_unprotected(game, sandbox, [team for team in teams if isinstance(team, Team)])
    problems = problems_of(teams, trial, jobs)
    for team in teams:
        problem = problems.get(team.id)
        document = {"team": team.id, "ok": problem is None, "problem": problem}
        click.echo(json.dumps(document) if as_json else visible(in_words(team, problem)))
    if problems and not as_json:
        click.echo(f"{len(problems)} of {len(teams)} teams did not pass", err=True)
    if problems:
        raise SystemExit(1)


def problems_of(
    teams: Sequence[Team | UnfitTeam], trial: Trial, jobs: int | None
) -> dict[str, str]:
    """Try teams and show the progress; return the problems found, by team id.

    Built-in strategies are not tried: some deliberately do what costs them a turn.
    """
    problems = {team.id: team.problem for team in teams if isinstance(team, UnfitTeam)}
    known = load_strategies(trial.game)
    fit = [
        team
        for team in teams
        if isinstance(team, Team) and not (team.bot.kind == "builtin" and team.bot.target in known)
    ]
    if not fit:
        return problems
    stderr = Stderr()
    stderr.say(f"Trying {counted(len(fit))}, each in a match against random moves.")
    with stderr.console.status("") as status:
        lanes = lanes_for(trial.game, trial.isolation.sandbox, jobs)
        validation = Validation(trial, lanes, lambda tried: status.update(progress(tried)))
        return problems | asyncio.run(validation.problems(fit))


def progress(tried: Tried) -> str:
    """Describe the progress.

    >>> progress(Tried(40, 12, 1))
    '12 of 40 teams tried, 1 failed'
    >>> progress(Tried(40, 40, 2))
    'trying the 2 teams that failed once more, each alone'
    """
    if tried.done == tried.total and tried.failed:
        return f"trying the {counted(tried.failed)} that failed once more, each alone"
    failed = f", {tried.failed} failed" if tried.failed else ""
    return f"{tried.done} of {counted(tried.total)} tried{failed}"


def counted(teams: int) -> str:
    """Return a number of teams with its noun: `1 team`, `2 teams`."""
    return "1 team" if teams == 1 else f"{teams} teams"


def in_words(team: Team | UnfitTeam, problem: str | None) -> str:
    """Return a line about a team: its name, and its id if that differs."""
    name = team.name if isinstance(team, Team) else team.id
    who = team.id if name == team.id else f"{name} ({team.id})"
    return f"{who}: {problem or 'ok'}"
