"""`cw serve`: the server that clients play on."""

from __future__ import annotations

from pathlib import Path

import click

from cw.arena.desk import GITHUB, SHORT
from cw.web import create_app
from cw.web.server import address_of, listen
from cw.web.server import serve as run
from cw.web.settings import LOCAL_NAMES, Settings, is_unspecified


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=5000,
    show_default=True,
    help="Port to listen on, 0 for any.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="A further host name by which clients call this server; may be repeated.",
)
@click.option(
    "--timeout",
    type=float,
    metavar="SECONDS",
    help="Time for a turn, -1 for no limit. [default: TIMEOUT of cw/game.py]",
)
@click.option(
    "--size", default=7, show_default=True, help="Squares in a row of the board: odd, 1 to 31."
)
@click.option(
    "--rooms/--no-rooms", default=True, help="Further games under /rooms/NAME/, on by default."
)
@click.option("--no-restart", is_flag=True, help="Remove the route /restart.")
@click.option(
    "--replays",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder whose replays are shown under /replays/.",
)
@click.option("--uploads", is_flag=True, help="Let viewers leave replays in that folder.")
@click.option("--github-names", is_flag=True, help=f"Allow team ids of {GITHUB.words}.")
def serve(
    host: str,
    port: int,
    names: tuple[str, ...],
    timeout: float | None,
    size: int,
    rooms: bool,
    no_restart: bool,
    replays: Path | None,
    uploads: bool,
    github_names: bool,
) -> None:
    """Run the server of Circuit Wars until Ctrl-C.

    Two clients register with it and play; everybody watches at its address.

    \b
      cw serve                                   then, in two more terminals:
      python game_ai.py alice
      python game_ai.py bob

    \b
    A class on one server: each pair plays in a room of its own,
      cw serve --host 0.0.0.0
      SERVER = "http://THIS-MACHINE:5000/rooms/table-4"     in game_ai.py
    """
    settings = Settings(
        timeout=timeout,
        size=size,
        rooms=rooms,
        restart=not no_restart,
        team_ids=GITHUB if github_names else SHORT,
        names=LOCAL_NAMES | {host.lower(), *map(str.lower, names)},
        any_address=is_unspecified(host),
        replays=replays,
        uploads=uploads,
    )
    app = create_app(settings)
    listener = listen(host, port)
    limit = settings.time_limit()
    click.echo(f"Monitor: {address_of(listener)}/")
    click.echo(f"Time for a turn: {'no limit' if limit is None else f'{limit:g} s'}")
    if settings.any_address:
        click.echo("Listening on all networks of this machine: everyone there can play.", err=True)
    if uploads:
        click.echo(f"Whoever reaches this server can leave replays in {replays}.", err=True)
    click.echo("Stop with Ctrl-C.", err=True)
    run(app, listener)
