"""`cw championship run`: plays a championship from its first match."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import click

from cw.championship.config import (
    ChampionshipSettings,
    begin,
    is_begun,
    names_of,
    refuse_begun,
    settings_of,
    usual_options,
)
from cw.championship.runner import Trial
from cw.championship.teams import Entrants, Team, UnfitTeam, enough, read_entrants, refuse
from cw.cli.championship.options import FOLDER, GAME, HANDOUTS, JOBS, PLACE, PORT, QUEUE
from cw.cli.championship.players import chosen_players, warn_unprotected
from cw.cli.championship.playing import play
from cw.cli.championship.validate import counted, in_words, problems_of
from cw.cli.options import OPTION, SANDBOX, read_option
from cw.errors import Failure, visible
from cw.games.registry import load_game
from cw.league.contest_formats import FORMATS
from cw.matches.spec import Isolation, SandboxPolicy

LEAVE_OUT: Final = "; fix them, or leave them out with --skip-broken"
AS_THEY_ARE: Final = ", or let them play as they are with --no-validate"

NewSettings: TypeAlias = Callable[[Sequence[Team], Mapping[str, str]], ChampionshipSettings]
"""Creates settings from the teams that play and, by id, the reasons why others are left out."""


@click.command("run")
@click.argument("place", metavar="DIR|TEAMS.toml", type=PLACE)
@GAME
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="championship",
    show_default=True,
    help="Format of the contest, which decides who meets whom.",
)
@click.option(
    "--groups", type=click.IntRange(1), help="Number of groups.  [default: of at most 8 teams]"
)
@click.option(
    "--players",
    type=click.IntRange(3),
    help="Players of a match in a free-for-all.  [default: all teams]",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    help="Rounds of a ladder (default: 3) or a free-for-all (as many as players, 10 at most).",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Seed for groups, line-ups, matches and draws.",
)
@OPTION
@click.option(
    "--openings",
    type=click.IntRange(0, 60),
    help="Random moves at the start, for a game that has them.  [default: 0]",
)
@click.option(
    "--size",
    type=click.IntRange(1, 31),
    help="Squares on each side of the board, for a game that has it.  [Circuit Wars: 7]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    help="Time limit for a turn in seconds, for a game that has it.  [Circuit Wars: 3]",
)
@click.option("--skip-broken", is_flag=True, help="Exclude teams that cannot play, and list them.")
@click.option(
    "--no-validate",
    "untried",
    is_flag=True,
    help="Start without trying the teams.",
)
@SANDBOX
@JOBS
@click.option(
    "--out",
    type=FOLDER,
    default=Path("championship"),
    show_default=True,
    help="Output folder of the championship.",
)
@click.option(
    "--resume", "resuming", is_flag=True, help="Continue if OUT already holds this championship."
)
@HANDOUTS
@PORT
@QUEUE
def run_command(
    place: Path,
    game: str,
    form: str,
    groups: int | None,
    players: int | None,
    rounds: int | None,
    seed: int,
    options: tuple[str, ...],
    openings: int | None,
    size: int | None,
    timeout: float | None,
    skip_broken: bool,
    untried: bool,
    sandbox: SandboxPolicy,
    jobs: int | None,
    out: Path,
    resuming: bool,
    with_handouts: bool,
    port: int | None,
    queued: bool,
) -> None:
    """Play the championship of the teams in DIR, a folder each, or of TEAMS.toml.

    The id of a team is derived from the name of its folder. The folder contains a program
    (game_ai.py in Circuit Wars, else bot.py, bot.js, ...), or a team.toml with `run = "COMMAND"` or
    `bot = "ARGUMENT"`. Everything is stored in OUT, so you can kill the run at any time and resume
    it. Before the first match each team is tried, as `cw championship validate` does; if one fails,
    all that fail are listed, and nothing is played. Exit code 1 if a team fails, or if matches
    remain to be played.

    \b
      cw championship run teams --out results
      cw championship resume results
      cw championship run teams.toml --game hexagon --format swiss
      cw championship run painters --game paint --format free-for-all --players 4 --rounds 12

    With --queue, the matches are played by the workers of the hub set in the environment:
    CW_DATABASE_URL, CW_BROKER_URL and so on; results and report are the same.
    """
    own = {"openings": openings, "size": size, "timeout": timeout}
    chosen = {name: value for name, value in own.items() if value is not None}
    chosen |= dict(map(read_option, options))

    def settings_for(teams: Sequence[Team], left_out: Mapping[str, str]) -> ChampionshipSettings:
        return ChampionshipSettings(
            teams=tuple(team.id for team in teams),
            place=str(place.resolve()),
            game=game,
            format=form,
            seed=seed,
            groups=groups,
            players=players,
            rounds=rounds,
            options=usual_options(game, chosen),
            sandbox=sandbox,
            names=names_of(teams),
            members={team.id: team.members for team in teams if team.members},
            left_out=dict(sorted(left_out.items())),
        )

    if not resuming:
        refuse_begun(out)
    entrants = read_entrants(place, game)
    with chosen_players(jobs, sandbox, queued=queued) as new_players:
        if not queued:
            warn_unprotected(game, sandbox, entrants.fit)
        if is_begun(out):
            check_same(out, entrants, settings_for)
        else:
            is_tried = not (untried or queued)
            problems = tried(entrants, place, settings_for, jobs) if is_tried else unfit(entrants)
            teams = admitted(entrants, place, problems, skip_broken=skip_broken)
            begin(out, settings_for(teams, problems))
        play(out, port, new_players, with_handouts=with_handouts)


def check_same(out: Path, entrants: Entrants, settings_for: NewSettings) -> None:
    """Raise UsageError unless the championship in a folder is the requested one."""
    settings = settings_of(out)
    refuse([team for team in entrants.unfit if team.id not in settings.left_out])
    teams = [team for team in entrants.fit if team.id not in settings.left_out]
    if settings_for(teams, settings.left_out) != settings:
        refuse_begun(out)


def tried(
    entrants: Entrants, place: Path, settings_for: NewSettings, jobs: int | None
) -> dict[str, str]:
    """Play a trial match with each team; return the problems found, by team id.

    Raises UsageError if the championship itself is invalid.
    """
    settings = settings_for(entrants.fit, {})
    if not entrants.unfit:
        enough(entrants.fit, place)
    if len(entrants.fit) > 1:
        settings.check()
    seats = settings.seats_of_a_match(load_game(settings.game).rules.seats)
    trial = Trial(settings.game, settings.options, Isolation(settings.sandbox), seats)
    return problems_of((*entrants.fit, *entrants.unfit), trial, jobs)


def unfit(entrants: Entrants) -> dict[str, str]:
    """Return the problems of the unfit teams, by team id."""
    return {team.id: team.problem for team in entrants.unfit}


def admitted(
    entrants: Entrants, place: Path, problems: Mapping[str, str], *, skip_broken: bool
) -> tuple[Team, ...]:
    """Return the teams that play, and print which are left out.

    Raises Failure for teams that cannot play, unless they may be left out.
    """
    everybody: tuple[Team | UnfitTeam, ...] = (*entrants.fit, *entrants.unfit)
    all_teams = {team.id: team for team in everybody}
    lines = [in_words(all_teams[team], problems[team]) for team in sorted(problems)]
    if lines and not skip_broken:
        advice = LEAVE_OUT if entrants.unfit else f"{LEAVE_OUT}{AS_THEY_ARE}"
        listed = "".join(f"\n  {line}" for line in lines)
        raise Failure(f"{len(lines)} of {counted(len(all_teams))} cannot play{advice}:{listed}")
    for line in lines:
        click.echo(visible(f"Left out: {line}"), err=True)
    teams = tuple(team for team in entrants.fit if team.id not in problems)
    return enough(teams, place, len(lines))
