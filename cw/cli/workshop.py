"""`cw workshop`: serves the pages on which a bot is written and tried."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Final

import click

from cw.cli.options import SANDBOX
from cw.kits import LANGUAGES
from cw.matches.spec import Isolation, SandboxPolicy
from cw.server.wsgi import address_of, listen, serve
from cw.web.workshop_routes import Gate, create_workshop
from cw.workshop.project import USUAL, open_project

REPLAYS: Final = Path("replays")
"""The folder in which `cw play` stores its replays."""


@click.command("workshop")
@click.argument("game")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    metavar="LANGUAGE",
    help="Language of the bot.  [default: that of the files in FOLDER, else Python]",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port of the page, 0 for any.",
)
@click.option(
    "--replays",
    type=click.Path(path_type=Path, exists=True),
    help="Replay, or folder of replays, with positions to test the bot in."
    "  [default: replays, if it is there]",
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@SANDBOX
def workshop(
    game: str,
    folder: Path | None,
    language: str | None,
    port: int,
    replays: Path | None,
    no_browser: bool,
    sandbox: SandboxPolicy,
) -> None:
    """Write and run a bot for GAME in the browser.

    The page is served until Ctrl-C. The bot is in FOLDER, by default GAME-LANGUAGE; a new or empty
    folder gets a starter bot. Your edits are saved to its files. The page runs programs, so only
    this machine can reach it, and only at the address printed, which has a token.

    \b
      cw workshop hexagon
      cw workshop paint mybot --language javascript
    """
    place = folder or Path(f"{game}-{language or USUAL}")
    project = open_project(game, place, language, Isolation(sandbox))
    listener = listen("127.0.0.1", port)
    gate = Gate(address_of(listener).removeprefix("http://"))
    app, desk = create_workshop(project, gate, replays or (REPLAYS if REPLAYS.is_dir() else None))
    address = gate.address(f"/workshop/{game}/")
    click.echo(f"The bot is in {project.folder.place}. Write it in the browser: {address}")
    click.echo("Stop with Ctrl-C.", err=True)
    if not no_browser:
        webbrowser.open(address)
    try:
        serve(app, listener)
    finally:
        desk.close()
