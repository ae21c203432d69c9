"""`cw replay export`: converts a replay to another format."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from PIL.Image import Image
from rich.console import Console
from rich.progress import track

from cw.cli.replay.reading import FILE, read
from cw.errors import UsageError
from cw.games.registry import load_exporter, load_game
from cw.pictures.exports import MOST_FRAMES, Animation, animation, still
from cw.pictures.raster import png
from cw.pictures.svg import svg
from cw.replays import document as replays_document
from cw.web.replay_export import drawn, html

SPEED: Final = 8
"""Turns per second of an animation."""

ENDINGS: Final = {"gz": ".json.gz", "game": ".game.json"}
"""File extensions that differ from the name of the format."""

Callback = TypeVar("Callback", bound=Callable[..., Any])


def choose(context: click.Context, parameter: click.Parameter, flag: bool) -> None:
    """Record the format that an option selects; refuse a second one."""
    if not flag:
        return
    if "form" in context.params:
        raise UsageError(f"choose one format: --{context.params['form']} or --{parameter.name}")
    context.params["form"] = parameter.name


def form_option(name: str, what: str) -> Callable[[Callback], Callback]:
    """Return the option for a format."""
    return click.option(f"--{name}", is_flag=True, expose_value=False, callback=choose, help=what)


@click.command()
@click.argument("file", type=FILE)
@form_option("json", "JSON without compression.  [default]")
@form_option("gz", "JSON compressed with gzip.")
@form_option("html", "One page with the viewer, which works from disk.")
@form_option("gif", f"An animation of up to {MOST_FRAMES} frames; longer matches leave out turns.")
@form_option("png", "A picture of one turn.")
@form_option("svg", "A picture of one turn.")
@form_option("game", "The game's own format, if it has one.")
@click.option("--out", type=FILE, help="File to write.  [default: beside FILE]")
@click.option(
    "--turn",
    type=int,
    help="With --png and --svg: the turn to draw; 0 is the start.  [default: the last]",
)
@click.option(
    "--from", "first", type=int, help="With --gif: the first turn of the animation.  [default: 0]"
)
@click.option(
    "--to",
    "last",
    type=int,
    help="With --gif: the last turn of the animation.  [default: the last]",
)
@click.option(
    "--speed", type=float, help=f"With --gif: turns per second, 0.1 to 100.  [default: {SPEED}]"
)
def export(
    file: Path,
    out: Path | None,
    turn: int | None,
    first: int | None,
    last: int | None,
    speed: float | None,
    form: str = "json",
) -> None:
    """Convert the replay FILE to a page, an animation or a picture.

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
            states = list(replays_document.states(load_game(document["game"]), document))
            data = load_exporter(document["game"])(document, states, None)
        case _:
            data = replays_document.encode(document, packed=form == "gz")
    try:
        place.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error.strerror}") from None
    click.echo(f"{place}: {len(data)} bytes{about}")


def left_out(moving: Animation) -> str:
    """Describe which turns an animation leaves out, if any."""
    return f", one for every {moving.step} turns" if moving.step > 1 else ""


def refuse_options(form: str, forms: tuple[str, ...], values: dict[str, Any]) -> None:
    """Raise UsageError for options that do not apply to a format."""
    for name, value in values.items():
        if value is not None and form not in forms:
            raise UsageError(f"{name} is for {' and '.join(f'--{other}' for other in forms)}")


def watched(images: Iterable[Image], count: int) -> Iterable[Image]:
    """Show the progress of an animation in a terminal."""
    console = Console(stderr=True)
    quiet = not console.is_terminal
    return track(images, "Painting frames", count, console=console, transient=True, disable=quiet)


def beside(file: Path, form: str) -> Path:
    """Return the default path for another format; raise UsageError if it is the replay's own."""
    stem = file.name.removesuffix(".gz").removesuffix(".json")
    place = file.with_name(stem + ENDINGS.get(form, f".{form}"))
    if place == file:
        raise UsageError(f"{file} is the replay itself; choose another file with --out")
    return place
