"""`cw league`: plays a league between the bots of a folder and their earlier versions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cw.cli.lab.league_table import print_league
from cw.cli.lab.options import JOBS
from cw.cli.lab.progress import LabProgress
from cw.cli.lab.running import run
from cw.cli.options import OPTION, SANDBOX, VERBOSE, read_option
from cw.cli.output.readers import while_read
from cw.cli.output.stderr import Stderr
from cw.errors import UsageError
from cw.lab.journal import Players, opened, read_head
from cw.lab.league import (
    Field,
    League,
    LeagueStandings,
    Planner,
    Watch,
    document,
    play_league,
    read_league,
    standings_of,
)
from cw.matches.spec import Isolation, SandboxPolicy
from cw.server.wsgi import listen, serving
from cw.web.league import LeagueDisplay, league_app


@click.command("league")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--game", help="The game, for a new league.  [default: that of the league in DIR]")
@click.option("--players", type=click.IntRange(2, 100), help="Seats of a match.  [default: 2]")
@click.option(
    "--include", type=click.Choice(["builtin"]), help="Let the built-in strategies take part."
)
@OPTION
@click.option(
    "--matches",
    type=click.IntRange(1),
    help="Stop after this many matches, once the last meeting is complete."
    "  [default: run until Ctrl-C]",
)
@JOBS
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Show /league/ in the browser while the league runs; 0 for any port.",
)
@click.option(
    "--table",
    "only_table",
    is_flag=True,
    help="Print the current table without playing, also while a league runs.",
)
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
    port: int | None,
    only_table: bool,
    sandbox: SandboxPolicy,
    verbose: bool,
    as_json: bool,
) -> None:
    """Play and rate the bots of DIR until Ctrl-C.

    Each program in DIR, and each folder with a program `bot`, is a bot; each change of it is a new
    version, which plays against all others. The next match is always the one that is expected to
    improve the ratings most. After Ctrl-C, the same command continues.
    Bots may be added, changed and removed meanwhile.

    \b
      cw league bots --game paint --include builtin
      cw league bots
      cw league bots --port 8000
      cw league bots --matches 500 --json
      cw league bots --table

    The matches, versions and replays are kept in DIR/.league. Exit codes: 0 success, 1 failure, 2
    wrong usage, 130 after Ctrl-C.
    """
    wishes = {
        "game": game,
        "players": players,
        "options": dict(map(read_option, options)) or None,
        "builtins": True if include else None,
    }
    league = chosen(folder, wishes, Isolation(sandbox))
    if only_table and port is not None:
        raise UsageError("--port shows a running league: leave out --table or --port")
    if only_table:
        show(standings_of(league), as_json=as_json)
        return
    with opened(league.file, league.head) as journal:
        planner = Planner(league, journal, Field(league, Stderr().say))
        enough(planner.field, league)
        try:
            with served(planner, port) as page:
                played(planner, jobs, matches, page, verbose=verbose)
        finally:
            show(planner.standings(), as_json=as_json)


def chosen(folder: Path, wishes: dict[str, Any], isolation: Isolation) -> League:
    """Return the league of a folder: with its stored settings or, if new, those of the options.

    Raises UsageError if the folder or the game is missing, and for options that differ from the
    stored settings.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}: create it, and add at least one bot")
    stated = {key: value for key, value in wishes.items() if value is not None}
    known = read_head(League(folder, "", 2).file)
    if not known and "game" not in stated:
        raise UsageError(f"{folder} is not a league yet: choose its game with --game GAME")
    return read_league(folder, {**known, **stated}, isolation)


def enough(field: Field, league: League) -> None:
    """Raise UsageError if there are fewer bots than a match has seats."""
    if len(field.versions) < league.players:
        raise UsageError(
            f"{league.folder} has {len(field.versions)} bots, and a match needs {league.players}:"
            " add programs, or folders with a program `bot`, or --include builtin"
        )


@contextmanager
def served(planner: Planner, port: int | None) -> Iterator[Watch]:
    """Serve the league's page, if requested; yield the callback for new standings."""
    if port is None:
        yield lambda _: None
        return
    display = LeagueDisplay(planner.league, planner.journal, planner.standings())
    with serving(league_app(display), listen("127.0.0.1", port)) as server:
        Stderr().say(f"Watch it in the browser: {server}/league/", soft_wrap=True)
        yield display.show


def played(planner: Planner, jobs: int, matches: int | None, page: Watch, *, verbose: bool) -> None:
    """Play a league, and show its progress."""

    async def experiment(playing: Players, progress: LabProgress) -> None:
        def watch(standing: LeagueStandings) -> None:
            progress.league(standing)
            page(standing)

        progress.begin(len(planner.journal.lines))
        await play_league(planner, playing, matches, watch)

    run(experiment, jobs, "continue with the same command", verbose=verbose)


def show(standing: LeagueStandings, *, as_json: bool) -> None:
    """Print the standings of a league."""
    with while_read():
        if as_json:
            click.echo(json.dumps(document(standing)))
        else:
            print_league(standing)
