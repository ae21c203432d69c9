"""`cw replay open`: opens a replay in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from cw.cli.replay.reading import FILE, read_file
from cw.errors import UsageError
from cw.replays import document
from cw.server.wsgi import address_of, listen, serve
from cw.web import create_app
from cw.web.replay_store import ReplayFilter, ReplayStore, Unreadable
from cw.web.settings import SiteSettings


@click.command("open")
@click.argument("file", type=FILE)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port of the page, 0 for any.",
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
def open_command(file: Path, port: int, no_browser: bool) -> None:
    """Watch the replay FILE in the browser, until Ctrl-C.

    Only this machine can reach it.
    """
    replay_file = read_file(file)
    if replay_file.own_match is None:
        watch(file.resolve(), port, no_browser=no_browser)
        return
    with TemporaryDirectory() as folder:
        place = Path(folder, file.name.partition(".")[0] + ".json.gz")
        place.write_bytes(document.encode(replay_file.document, packed=True))
        watch(place, port, no_browser=no_browser)


def watch(place: Path, port: int, *, no_browser: bool) -> None:
    """Serve a file in the arena's format, until Ctrl-C; raise UsageError if it cannot be shown."""
    [entry] = ReplayStore(place).page(1, ReplayFilter()).entries
    if isinstance(entry.summary, Unreadable):
        raise UsageError(f"{place} cannot be shown: {entry.summary.reason}")
    app = create_app(SiteSettings(replays=place, owner=True))
    listener = listen("127.0.0.1", port)
    address = f"{address_of(listener)}/replays/{entry.name}"
    click.echo(f"Watch the replay in the browser: {address}")
    click.echo("Stop with Ctrl-C.", err=True)
    if not no_browser:
        webbrowser.open(address)
    serve(app, listener)
