"""`cw replay`: look at replays, prove them, and give them in other forms."""

from __future__ import annotations

import json
import webbrowser
from itertools import islice
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from cw.arena import replay
from cw.cli.pictures import picture
from cw.errors import Refused
from cw.games.base import Json
from cw.games.catalogue import load_exporter, load_game
from cw.web import create_app
from cw.web.export import html
from cw.web.server import address_of, listen, serve
from cw.web.settings import Settings
from cw.web.shelf import LARGEST_FILE, Shelf

FILE = click.Path(path_type=Path, dir_okay=False)


@click.group("replay")
def replays() -> None:
    """Look at replays that `cw play --out` has written.

    \b
      cw play paint builtin:greedy builtin:walker --seed 7 --out match.json.gz
      cw replay show match.json.gz --turn 20
      cw replay open match.json.gz
      cw replay verify match.json.gz
    """


@replays.command()
@click.argument("file", type=FILE)
@click.option("--turn", type=int, default=-1, show_default=True, help="0 is the start, -1 the end.")
def show(file: Path, turn: int) -> None:
    """Draw a turn of the replay in FILE, and say what happened in it."""
    document = read(file)
    last = len(document["turns"])
    number = turn + last + 1 if turn < 0 else turn
    if not 0 <= number <= last:
        raise Refused(f"the replay has the turns 0 to {last}, not {turn}")
    frame = next(islice(replay.frames(document), number, None))
    console = Console()
    console.print(picture(document["game"], frame), highlight=False)
    names = ", ".join(f"{seat['player']}: {seat['name']}" for seat in document["players"])
    console.print(f"turn {number} of {last}   {names}", highlight=False)
    if number:
        actions = document["turns"][number - 1]["actions"]
        for player, action in actions.items():
            console.print(Text(f"  {player}  {json.dumps(action)[:200]}"))
    if number == last:
        console.print(Text(json.dumps(document["result"])))


@replays.command("open")
@click.argument("file", type=FILE)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="0 for any."
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def open_command(file: Path, port: int, no_browser: bool) -> None:
    """Watch the replay in FILE in the browser, until Ctrl-C.

    Only this machine can reach it.
    """
    read(file)
    place = file.resolve()
    entries, _ = Shelf(place).entries()
    if not entries:
        raise Refused(f"{file} is larger than {LARGEST_FILE} bytes, too large for the viewer")
    app = create_app(Settings(replays=place))
    listener = listen("127.0.0.1", port)
    address = f"{address_of(listener)}/replays/{entries[0].name}"
    click.echo(f"Watch the replay in the browser: {address}")
    click.echo("Stop with Ctrl-C.", err=True)
    if not no_browser:
        webbrowser.open(address)
    serve(app, listener)


@replays.command()
@click.argument("file", type=FILE)
@click.option(
    "--turn", type=click.IntRange(0), required=True, help="Turns played before; 0 is the start."
)
@click.option("--player", help="Ask what this player sees, for `cw observe`.")
def line(file: Path, turn: int, player: str | None) -> None:
    """Print a turn as a line for `cw step`, or for `cw observe`.

    \b
      cw replay line match.json.gz --turn 20 | cw step paint
      cw replay line match.json.gz --turn 20 --player a | cw observe paint
    """
    document = read(file)
    game = load_game(document["game"])
    state = next(islice(replay.states(game, document), turn, None), None)
    if state is None:
        raise Refused(f"the replay has the turns 0 to {len(document['turns'])}, not {turn}")
    said: dict[str, Json] = {"state": game.state_to_json(state)}
    if player is not None:
        said |= {"player": player} | ({"seed": document["seed"]} if "seed" in document else {})
    elif turn < len(document["turns"]):
        said |= {"actions": document["turns"][turn]["actions"], "options": document["options"]}
    click.echo(json.dumps(said))


@replays.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a file.")
def verify(files: tuple[Path, ...], as_json: bool) -> None:
    """Play replays again by the rules: every frame, the result and the hash must come out.

    Exit code 1 if one does not.
    """
    errors = [why_wrong(file) for file in files]
    for file, error in zip(files, errors, strict=True):
        said = {"file": str(file), "ok": error is None, "error": error}
        click.echo(json.dumps(said) if as_json else f"{file}: {error or 'ok'}")
    if any(errors):
        raise SystemExit(1)


def why_wrong(file: Path) -> str | None:
    """Say what is wrong with a file, None if nothing is."""
    document = read(file)
    return replay.verify(load_game(document["game"]), document)


@replays.command()
@click.argument("file", type=FILE)
@click.option("--out", type=FILE, required=True, help="File to write.")
@click.option(
    "--form",
    type=click.Choice(["json", "gz", "html", "game"]),
    default="json",
    show_default=True,
    help="Plain, packed, a page with the viewer, or the game's own format if it has one.",
)
def export(file: Path, out: Path, form: str) -> None:
    """Write the replay in FILE in another form."""
    document = read(file)
    if form == "game":
        game = load_game(document["game"])
        data = load_exporter(document["game"])(document, list(replay.states(game, document)))
    elif form == "html":
        data = html(document)
    else:
        data = replay.encode(document, packed=form == "gz")
    try:
        out.write_bytes(data)
    except OSError as error:
        raise Refused(f"{out} cannot be written: {error.strerror}") from None
    click.echo(f"{out}: {len(data)} bytes")


def read(file: Path) -> replay.Document:
    """Read a replay; raise Refused if the file holds none."""
    try:
        with file.open("rb") as source:
            data = source.read(replay.LARGEST)
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror}") from None
    return replay.decode(data)
