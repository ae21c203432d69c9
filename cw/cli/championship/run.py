"""`cw championship run`: a championship from its beginning."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from cw.championship.config import ChampionshipSettings, begin, names_of, settings_of
from cw.championship.teams import Entrants, Team, enough, read_entrants, refuse
from cw.cli.championship.options import FOLDER, GAME, HANDOUTS, JOBS, PLACE, PORT, QUEUE
from cw.cli.championship.players import chosen_players
from cw.cli.championship.playing import play
from cw.cli.options import OPTION, SANDBOX, read_option
from cw.errors import UsageError
from cw.games.rules import Json
from cw.league.contest_formats import FORMATS
from cw.matches.spec import SandboxPolicy
from cw.visible import visible

LEAVE_OUT: Final = "; fix them, or leave them out with --skip-broken"

CIRCUIT_WARS: Final = {"size": 7, "timeout": 3.0, "openings": 0}
"""What is played in Circuit Wars by default."""


@click.command("run")
@click.argument("place", metavar="DIR|TEAMS.toml", type=PLACE)
@GAME
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="championship",
    show_default=True,
    help="Who meets whom.",
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
@click.option("--skip-broken", is_flag=True, help="Leave out the teams that cannot play.")
@SANDBOX
@JOBS
@click.option(
    "--out",
    type=FOLDER,
    default=Path("championship"),
    show_default=True,
    help="Output folder.",
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
    it.

    \b
      cw championship run teams --out results
      cw championship resume results
      cw championship run teams.toml --game hexagon --format swiss
      cw championship run painters --game paint --format free-for-all --players 4 --rounds 12

    With --queue, the matches are played by the workers of the hub set in the environment:
    CW_DATABASE_URL, CW_BROKER_URL and so on (docs/hub.md); results and report are the same.
    """
    own = {"openings": openings, "size": size, "timeout": timeout}
    chosen = {name: value for name, value in own.items() if value is not None}
    chosen |= dict(map(read_option, options))
    entrants = read_entrants(place, game)
    teams = chosen_of(entrants, place, skip_broken=skip_broken)
    settings = ChampionshipSettings(
        teams=tuple(team.id for team in teams),
        place=str(place.resolve()),
        game=game,
        format=form,
        seed=seed,
        groups=groups,
        players=players,
        rounds=rounds,
        options=chosen_options(game, chosen),
        sandbox=sandbox,
        names=names_of(teams),
        members={team.id: team.members for team in teams if team.members},
        left_out={team.id: team.problem for team in entrants.unfit},
    )
    with chosen_players(jobs, sandbox, queued=queued) as new_players:
        try:
            begin(out, settings)
        except UsageError:
            if not resuming or settings_of(out) != settings:
                raise
        play(out, port, new_players, with_handouts=with_handouts)


def chosen_of(entrants: Entrants, place: Path, *, skip_broken: bool) -> tuple[Team, ...]:
    """Return the teams that play, and say which are left out.

    Raises UsageError for teams that cannot play, unless they may be left out.
    """
    if not skip_broken:
        refuse(entrants.unfit, LEAVE_OUT)
    for team in entrants.unfit:
        click.echo(visible(f"Left out: {team.id}: {team.problem}"), err=True)
    return enough(entrants.fit, place)


def chosen_options(game: str, options: Mapping[str, Json]) -> dict[str, Json]:
    """Return the options of a game with its usual ones."""
    if game != "circuit-wars":
        return dict(options)
    chosen = {**CIRCUIT_WARS, **options}
    return chosen | {"openings": min(chosen["openings"], chosen["size"] ** 2)}
