"""`cw league`: the bots of a folder, and their earlier versions, play on and on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from cw.cli.lab.league_table import print_league
from cw.cli.lab.options import JOBS
from cw.cli.lab.progress import LabProgress
from cw.cli.lab.running import run
from cw.cli.options import OPTION, SANDBOX, VERBOSE, read_option
from cw.cli.output.stderr import Stderr
from cw.errors import UsageError
from cw.lab.journal import opened, read_head
from cw.lab.league.running import (
    Field,
    League,
    Planner,
    looked_at,
    play_league,
    read_league,
)
from cw.lab.league.standing import Standing, document
from cw.lab.playing import Players
from cw.matches.spec import Isolation, SandboxPolicy


@click.command("league")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--game", help="The game; a league that was begun knows it.")
@click.option("--players", type=click.IntRange(2, 100), help="Seats of a match.  [default: 2]")
@click.option(
    "--include", type=click.Choice(["builtin"]), help="Let the built-in strategies take part."
)
@OPTION
@click.option(
    "--matches",
    type=click.IntRange(1),
    help="Stop when the league has so many matches.  [default: go on until Ctrl-C]",
)
@JOBS
@click.option("--table", "only_table", is_flag=True, help="Show how it stands, and play nothing.")
@SANDBOX
@VERBOSE
@click.option("--json", "as_json", is_flag=True, help="Print the table as one JSON object.")
def league_command(
    folder: Path,
    game: str | None,
    players: int | None,
    include: str | None,
    options: tuple[str, ...],
    matches: int | None,
    jobs: int,
    only_table: bool,
    sandbox: SandboxPolicy,
    verbose: bool,
    as_json: bool,
) -> None:
    """Let the bots of DIR play on and on, and rate them.

    Each program in DIR, and each folder with a program `bot`, is a bot; each change of it is a new
    version, which plays against all others. Next is always the match that tells most. It goes on
    until Ctrl-C; the same command goes on where it was. Bots may be added, changed and removed
    meanwhile.

    \b
      cw league bots --game paint --include builtin
      cw league bots
      cw league bots --matches 500 --json
      cw league bots --table

    All it keeps is in DIR/.league: the matches, the versions and the replays. Exit codes: 0 fine,
    1 something failed, 2 wrong usage; 130 after Ctrl-C.
    """
    wishes = {
        "game": game,
        "players": players,
        "options": dict(map(read_option, options)) or None,
        "builtins": True if include else None,
    }
    league = chosen(folder, wishes, Isolation(sandbox))
    if only_table:
        show(looked_at(league), as_json=as_json)
        return
    with opened(league.file, league.head) as journal:
        planner = Planner(league, journal, Field(league, Stderr().say))
        enough(planner.field, league)
        try:
            played(planner, jobs, matches, verbose=verbose)
        finally:
            show(planner.standing(), as_json=as_json)


def chosen(folder: Path, wishes: dict[str, Any], isolation: Isolation) -> League:
    """Return the league of a folder: as it was begun, else as the command says.

    Raises UsageError for a folder that is none, without a game, and for what differs.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}: make one, with a bot or more in it")
    stated = {key: value for key, value in wishes.items() if value is not None}
    known = read_head(League(folder, "", 2).file)
    if not known and "game" not in stated:
        raise UsageError(f"{folder} is no league yet: say which game it plays, --game GAME")
    return read_league(folder, {**known, **stated}, isolation)


def enough(field: Field, league: League) -> None:
    """Raise UsageError if there are fewer bots than a match has seats."""
    if len(field.versions) < league.players:
        raise UsageError(
            f"{league.folder} has {len(field.versions)} bots, and a match needs {league.players}:"
            " add programs, or folders with a program `bot`, or --include builtin"
        )


def played(planner: Planner, jobs: int, matches: int | None, *, verbose: bool) -> None:
    """Play a league, and show how it stands."""

    async def experiment(playing: Players, progress: LabProgress) -> None:
        progress.begin(len(planner.journal.lines))
        await play_league(planner, playing, matches, progress.league)

    run(experiment, jobs, "the same command goes on", verbose=verbose)


def show(standing: Standing, *, as_json: bool) -> None:
    """Print a league."""
    if as_json:
        click.echo(json.dumps(document(standing)))
    else:
        print_league(standing)
