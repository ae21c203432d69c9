"""`cw serve`: runs the server that clients play on."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import click

from cw.arena.bots import BotSpec, read_bots
from cw.arena.sandbox import Sandbox
from cw.cli.options import SANDBOX
from cw.errors import Failure, UsageError
from cw.files import make_folder
from cw.games.registry import load_play_options
from cw.matches.spec import Isolation, SandboxPolicy
from cw.server.names import LOCAL_NAMES, HostNames, addresses_in_networks
from cw.server.session import GITHUB, SHORT
from cw.server.settings import read_origin
from cw.server.wsgi import address_of, listen
from cw.server.wsgi import serve as run
from cw.web import create_app
from cw.web.championship import championship_around
from cw.web.live_matches import LiveMatches
from cw.web.settings import SiteSettings

REPLAYS: Final = Path("replays")
"""The default folder for saved matches; `cw play` puts its replays there too."""


@click.command()
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all."
)
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
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="Address of a site whose pages may play, such as http://localhost:3000; may be repeated.",
)
@click.option(
    "--timeout",
    type=float,
    metavar="SECONDS",
    help="Seconds for a turn, -1 for no limit.  [default: TIMEOUT of cw/game.py]",
)
@click.option(
    "--size", default=7, show_default=True, help="Squares on each side of the board: odd, 1 to 31."
)
@click.option(
    "--rooms/--no-rooms", default=True, help="Further matches under /rooms/NAME/, on by default."
)
@click.option("--no-restart", is_flag=True, help="Remove the route /restart.")
@click.option(
    "--replays",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder of the replays under /replays/; finished matches are saved there. The folder of a"
    " championship is shown under /championship/, and nothing is saved in it."
    f"  [default: {REPLAYS}]",
)
@click.option("--no-replays", is_flag=True, help="Do not save finished matches.")
@click.option(
    "--uploads",
    is_flag=True,
    help="Let visitors upload replays to the folder of --replays, which has no default then.",
)
@click.option(
    "--matches",
    type=click.IntRange(0),
    default=8,
    show_default=True,
    help="Maximum number of matches that visitors may start at once; 0 for none.",
)
@click.option(
    "--opponent",
    "opponents",
    nargs=2,
    multiple=True,
    metavar="GAME NAME=BOT",
    help="A bot that visitors may choose on the page of a game; may be repeated.",
)
@click.option(
    "--set",
    "bot_settings",
    multiple=True,
    metavar="NAME.KEY=VALUE",
    help="A setting of a bot of --opponent, as for `cw play`; may be repeated.",
)
@SANDBOX
@click.option("--github-names", is_flag=True, help=f"Allow team ids of {GITHUB.words}.")
def serve(
    host: str,
    port: int,
    names: tuple[str, ...],
    origins: tuple[str, ...],
    timeout: float | None,
    size: int,
    rooms: bool,
    no_restart: bool,
    replays: Path | None,
    no_replays: bool,
    uploads: bool,
    matches: int,
    opponents: tuple[tuple[str, str], ...],
    bot_settings: tuple[str, ...],
    sandbox: SandboxPolicy,
    github_names: bool,
) -> None:
    """Run the server of Circuit Wars until Ctrl-C.

    Two clients register and play; anyone can watch at its address.

    \b
      cw serve                                   then, in two more terminals:
      python game_ai.py alice
      python game_ai.py bob

    \b
    A class on one server: each pair plays in a room of its own,
      cw serve --host 0.0.0.0                    prints its addresses for others
      SERVER = "http://ADDRESS:5000/rooms/table-4"     in game_ai.py

    \b
    People play the other games at /games/, against built-in bots and yours:
      cw serve --opponent hexagon mine=./bot.py
    """
    seated_opponents = read_opponents(opponents, bot_settings)
    replays = folder_of_replays(replays, wanted=not no_replays, uploads=uploads)
    championship = championship_around(replays)
    saves = replays is not None and championship is None
    settings = SiteSettings(
        timeout=timeout,
        size=size,
        rooms=rooms,
        restart=not no_restart,
        team_ids=GITHUB if github_names else SHORT,
        names=HostNames.of(host, *names),
        further_names=", or start it with --name HOST to allow that name",
        origins=frozenset(map(read_origin, origins)),
        replays=replays,
        save=saves,
        uploads=uploads,
        owner=host.lower() in LOCAL_NAMES and not names and not uploads,
        matches=matches,
        opponents=seated_opponents.bots,
        isolation=Isolation(sandbox),
        secrets=seated_opponents.secrets,
    )
    problem = Sandbox(sandbox).problem() if has_programs(seated_opponents) else None
    if problem is not None:
        click.echo(
            f"LIMITS ONLY: bots can read your files and use your network ({problem})", err=True
        )
    app = create_app(settings)
    listener = listen(host, port)
    limit = settings.time_limit()
    click.echo(f"Monitor: {address_of(listener)}/")
    if rooms:
        click.echo(f"Rooms: {address_of(listener)}/rooms/")
    click.echo(f"All games: {address_of(listener)}/games/")
    if championship is not None:
        click.echo(f"Championship: {address_of(listener)}/championship/")
    click.echo(f"Time for a turn: {'no limit' if limit is None else f'{limit:g} s'}")
    if settings.names.any_address:
        say_addresses(listener)
    if saves:
        click.echo(f"Finished matches are saved in {replays}; the pages show them.", err=True)
    if uploads:
        click.echo(f"Anyone who can reach this server can upload replays to {replays}.", err=True)
    click.echo("Stop with Ctrl-C.", err=True)
    try:
        run(app, listener)
    finally:
        played: LiveMatches = app.extensions["matches"]
        played.close()


def folder_of_replays(chosen: Path | None, *, wanted: bool, uploads: bool) -> Path | None:
    """Return the folder of the replays, or None; the default one is created if it is missing.

    Raises UsageError if a folder is chosen but not wanted.
    """
    if not wanted and chosen is not None:
        raise UsageError("choose either --replays or --no-replays")
    # What visitors upload goes only into a folder that the owner has chosen for it.
    if chosen is not None or not wanted or uploads:
        return chosen
    try:
        make_folder(REPLAYS)
    except Failure as error:
        click.echo(f"Finished matches are not saved: {error}", err=True)
        return None
    return REPLAYS


def say_addresses(listener: socket.socket) -> None:
    """Print the URLs under which other hosts reach the server."""
    addresses = addresses_in_networks(listener)
    for address in addresses:
        click.echo(f"On other machines: {address}/")
    if not addresses:
        click.echo("This machine has no network address: others cannot reach it.", err=True)
    click.echo("Listening on all networks of this machine: everyone there can play.", err=True)


class Opponents(NamedTuple):
    """The bots that users can choose, by game, and their secrets, by name."""

    bots: dict[str, list[BotSpec]]
    secrets: dict[str, dict[str, str]]


def has_programs(opponents: Opponents) -> bool:
    """Return whether one of the bots is a program that the server starts."""
    return any(bot.kind == "exec" for bots in opponents.bots.values() for bot in bots)


def read_opponents(named: Sequence[tuple[str, str]], settings: Sequence[str]) -> Opponents:
    """Read the bots that users can choose; raise UsageError if invalid."""
    arguments = read_bots([spec for _, spec in named], settings)
    opponents: dict[str, list[BotSpec]] = {}
    for (game, _), bot in zip(named, arguments.bots, strict=True):
        load_play_options(game)
        opponents.setdefault(game, []).append(bot)
    return Opponents(opponents, arguments.secrets)
