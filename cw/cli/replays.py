"""`cw replay`: look at replays, prove them, and give them in other forms."""

from __future__ import annotations

import json
import webbrowser
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

import click
from PIL.Image import Image
from rich.console import Console
from rich.progress import track
from rich.text import Text

from cw.cli.groups import HelpfulGroup
from cw.errors import ArenaError, ProtocolError, UsageError
from cw.games.registry import (
    game_entries,
    load_exporter,
    load_game,
    load_picture,
    load_terminal,
)
from cw.games.rules import Json
from cw.matches.from_replay import verdict_of
from cw.pictures import scenes
from cw.pictures.exports import MOST_FRAMES, Animation, animation, number_of, still
from cw.pictures.raster import png
from cw.pictures.svg import svg
from cw.replays import document as replay
from cw.replays.own_formats import ReplayFile, decode, proven
from cw.server.wsgi import address_of, listen, serve
from cw.visible import visible
from cw.web import create_app
from cw.web.export import drawn, html
from cw.web.replay_store import ReplayFilter, ReplayStore
from cw.web.replay_summary import Unreadable
from cw.web.settings import SiteSettings

FILE = click.Path(path_type=Path, dir_okay=False)
MOST_CELLS: Final = 1_000_000
"""Cells of a board that is drawn in a terminal."""

SPEED: Final = 8
"""Turns a second of an animation."""

ENDINGS: Final = {"gz": ".json.gz", "game": ".game.json"}
"""Endings of files that are not called as their form is."""

Callback = TypeVar("Callback", bound=Callable[..., Any])


@click.group("replay", cls=HelpfulGroup)
def replays() -> None:
    """Look at replays, in the format of the arena or of a game.

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
    last, number = len(document["turns"]), number_of(document, turn)
    frame = next(islice(replay.frames(document), number, None))
    console = Console()
    console.print(terminal_board(document["game"], frame), highlight=False)
    names = ", ".join(f"{seat['player']}: {seat['name']}" for seat in document["players"])
    console.print(Text(visible(f"turn {number} of {last}   {names}")))
    if number:
        actions = document["turns"][number - 1]["actions"]
        for player, action in actions.items():
            console.print(Text(visible(f"  {player}  {json.dumps(action)[:200]}")))
    if number == last:
        told = verdict_of(document) or f"The match was broken off in turn {last}, without a result."
        console.print(Text(visible(told)))


def terminal_board(game: str, frame: Json) -> Text:
    """Draw a frame of a file; raise ProtocolError for one that cannot be drawn."""
    if game in game_entries():
        shown = load_picture(game)
        width, height = shown.extent(scenes.read(frame, shown.frame, "the frame"))
        if width * height > MOST_CELLS:
            raise ProtocolError(f"a board of {width:g} x {height:g} is too large for a terminal")
    try:
        return load_terminal(game)(frame)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # Drawings take it for granted that a frame came of the rules; a file may say anything.
        raise ProtocolError(f"the frame cannot be drawn: {error!r}") from None


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
    found = read_file(file)
    if found.retold is None:
        watch(file.resolve(), port, no_browser=no_browser)
        return
    with TemporaryDirectory() as folder:
        place = Path(folder, file.name.partition(".")[0] + ".json.gz")
        place.write_bytes(replay.encode(found.document, packed=True))
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
        raise UsageError(f"the replay has the turns 0 to {len(document['turns'])}, not {turn}")
    said: dict[str, Json] = {"state": game.codec.state_to_json(state)}
    if player is not None:
        said |= {"player": player} | ({"seed": document["seed"]} if "seed" in document else {})
    elif turn < len(document["turns"]):
        said |= {"actions": document["turns"][turn]["actions"], "options": document["options"]}
    click.echo(json.dumps(said))


@replays.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each file.")
def verify(files: tuple[Path, ...], as_json: bool) -> None:
    """Play replays again by the rules, and say which are not true.

    The start, every frame, the end, the result and the hash must come out as they are recorded; in
    the format of a game itself everything that it tells.
    Prints a line for each FILE. Exit code 1 if one is not true.
    """
    found = [judged(file) for file in files]
    for verdict in found:
        click.echo(json.dumps(verdict) if as_json else visible(in_words(verdict)))
    if not all(verdict["ok"] for verdict in found):
        raise SystemExit(1)


def judged(file: Path) -> dict[str, Json]:
    """Return what is found of a file: whether it is true, and what is wrong with it."""
    said: dict[str, Json] = {"file": str(file)}
    try:
        found = read_file(file)
        error = proven(found)
    except ArenaError as refused:
        return said | {"ok": False, "error": str(refused)}
    document = found.document
    position = {"from": document["from"]} if "from" in document and error is None else {}
    return said | {"ok": error is None, "error": error} | position


def in_words(verdict: Mapping[str, Json]) -> str:
    """Return what was found of a file as a line for reading."""
    fine = "ok, from a given position" if "from" in verdict else "ok"
    return f"{verdict['file']}: {verdict['error'] or fine}"


def choose(context: click.Context, parameter: click.Parameter, chosen: bool) -> None:
    """Note the form that an option asks for; refuse a second one."""
    if not chosen:
        return
    if "form" in context.params:
        raise UsageError(f"one form at a time: --{context.params['form']} or --{parameter.name}")
    context.params["form"] = parameter.name


def form_option(name: str, what: str) -> Callable[[Callback], Callback]:
    """Return the option that asks for a form."""
    return click.option(f"--{name}", is_flag=True, expose_value=False, callback=choose, help=what)


@replays.command()
@click.argument("file", type=FILE)
@form_option("json", "Plain.  [default]")
@form_option("gz", "Packed.")
@form_option("html", "One page with the viewer, which works from disk.")
@form_option("gif", f"An animation of up to {MOST_FRAMES} frames; longer matches leave out turns.")
@form_option("png", "A picture of one turn.")
@form_option("svg", "A picture of one turn.")
@form_option("game", "The game's own format, if it has one.")
@click.option("--out", type=FILE, help="File to write.  [default: beside FILE]")
@click.option("--turn", type=int, help="With --png, --svg: 0 is the start.  [default: the last]")
@click.option("--from", "first", type=int, help="With --gif: the first turn.  [default: 0]")
@click.option("--to", "last", type=int, help="With --gif: the last turn.  [default: the last]")
@click.option("--speed", type=float, help=f"With --gif: turns a second.  [default: {SPEED}]")
def export(
    file: Path,
    out: Path | None,
    turn: int | None,
    first: int | None,
    last: int | None,
    speed: float | None,
    form: str = "json",
) -> None:
    """Write the replay in FILE in another form.

    \b
      cw replay export match.json.gz --gif --speed 12
      cw replay export match.json.gz --png --turn 20 --out match.png
    """
    refuse_options(form, ("png", "svg"), {"--turn": turn})
    refuse_options(form, ("gif",), {"--from": first, "--to": last, "--speed": speed})
    place, about = out or beside(file, form), ""
    document = read(file)
    match form:
        case "png":
            data = png(still(drawn(document), -1 if turn is None else turn))
        case "svg":
            data = svg(still(drawn(document), -1 if turn is None else turn))
        case "gif":
            span = first or 0, -1 if last is None else last
            pace = SPEED if speed is None else speed
            moving = animation(drawn(document), span, pace, watched)
            data, about = moving.data, f", {moving.frames} frames{left_out(moving)}"
        case "html":
            data = html(document)
        case "game":
            states = list(replay.states(load_game(document["game"]), document))
            data = load_exporter(document["game"])(document, states, None)
        case _:
            data = replay.encode(document, packed=form == "gz")
    try:
        place.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error.strerror}") from None
    click.echo(f"{place}: {len(data)} bytes{about}")


def left_out(moving: Animation) -> str:
    """Say which turns an animation leaves out, if it does."""
    return f", one for every {moving.step} turns" if moving.step > 1 else ""


def refuse_options(form: str, forms: tuple[str, ...], given: dict[str, Any]) -> None:
    """Raise UsageError for options that mean nothing for a form."""
    for name, value in given.items():
        if value is not None and form not in forms:
            raise UsageError(f"{name} is for {' and '.join(f'--{one}' for one in forms)}")


def watched(images: Iterable[Image], count: int) -> Iterable[Image]:
    """Show in a terminal how far an animation is."""
    console = Console(stderr=True)
    quiet = not console.is_terminal
    return track(images, "Painting frames", count, console=console, transient=True, disable=quiet)


def beside(file: Path, form: str) -> Path:
    """Return the place of another form of a replay; raise UsageError if it is the replay itself."""
    stem = file.name.removesuffix(".gz").removesuffix(".json")
    place = file.with_name(stem + ENDINGS.get(form, f".{form}"))
    if place == file:
        raise UsageError(f"{file} is the replay itself; name another file with --out")
    return place


def read(file: Path) -> replay.Document:
    """Read a replay, also in the format of its game; raise UsageError if the file holds none."""
    return read_file(file).document


def read_file(file: Path) -> ReplayFile:
    """Read a replay with what its file tells beside it."""
    try:
        with file.open("rb") as source:
            data = source.read(replay.LARGEST)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    return decode(data)
