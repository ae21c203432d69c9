"""`cw maps`: generates, checks and shows the maps of a game."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track
from rich.text import Text

from cw.cli.groups import HelpfulGroup
from cw.drawing import DIM, TERMINAL_WALL, color
from cw.errors import UsageError
from cw.games.registry import AnyMapMaker, load_map_maker
from cw.games.rules import Json
from cw.pictures.raster import png as as_png
from cw.pictures.svg import svg as as_svg

LARGEST_FILE = 16 * 1024 * 1024
"""Maximum bytes read from a map file; each game has its own, lower limit."""

IN = click.Path(path_type=Path)
OUT = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.group(cls=HelpfulGroup)
@click.argument("game")
@click.pass_context
def maps(context: click.Context, game: str) -> None:
    """Generate, check and show maps of GAME.

    \b
      cw maps code-battle generate --players 4 --count 3 --out maps
      cw maps code-battle check maps/m4_001.json
      cw maps code-battle show maps/m4_001.json --png m4_001.png
    """
    context.obj = load_map_maker(game)


@maps.command()
@click.option("--players", type=int, required=True, help="Players of each map: 2, 3, 4 or 6.")
@click.option(
    "--count",
    type=click.IntRange(1, 999),
    default=1,
    show_default=True,
    help="Number of maps to generate.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Seed of the first map; each further map uses the next one.",
)
@click.option("--rows", type=int, help="Height in tiles.  [Code Battle: 30 to 120, 60 by default]")
@click.option("--cols", type=int, help="Width in tiles.  [Code Battle: 30 to 120, 60 by default]")
@click.option(
    "--wall-density",
    type=float,
    help="Share of walls.  [Code Battle: 0.05 to 0.30, 0.15 by default]",
)
@click.option(
    "--energy-nodes",
    type=int,
    help="Energy nodes, rounded down to a multiple of the players."
    "  [Code Battle: 8 to 50, 20 by default]",
)
@click.option(
    "--cores-per-player",
    type=int,
    help="Cores of each player.  [Code Battle: 1 or 2, 1 by default]",
)
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for the files.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each map.")
@click.pass_obj
def generate(
    maker: AnyMapMaker,
    /,
    players: int,
    count: int,
    seed: int,
    folder: Path,
    force: bool,
    as_json: bool,
    **options: Json,
) -> None:
    """Generate maps from a seed, one file each.

    Each file is named after its map: `m4_001.json` is the first one for 4 players. The same options
    and seed always give identical files. The symmetry limits the size: 4 players need as many rows
    as columns, or even numbers of both; 3 players need rows or columns divisible by 3; 6 players
    need one of them divisible by 3 and the other even.
    """
    files = [folder / f"{map_id}.json" for map_id in maker.ids(players, count)]
    if not force:
        refuse_overwriting(files)
    settings = {name: value for name, value in options.items() if value is not None}
    series = maker.make(players, count, seed, **settings)
    console = Console(stderr=True)
    tracked = track(series, "generating maps", total=count, console=console, transient=True)
    for file, game_map in zip(files, tracked, strict=True):
        write(file, maker.encode(game_map))
        facts = {"file": str(file)} | maker.facts(game_map)
        click.echo(json.dumps(facts) if as_json else in_words(facts))


@maps.command("library")
@click.option("--players", type=int, required=True, help="Players of each map.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed for all random choices.")
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for the files.",
)
@click.pass_obj
def make_library(maker: AnyMapMaker, /, players: int, seed: int, folder: Path) -> None:
    """Generate the maps that come with the game, and try each in a match.

    Every player must collect something in it. Code Battle has 50 maps for each number of players,
    the first ten with the default options.
    """
    console = Console(stderr=True)
    for game_map in track(
        maker.library(players, seed), "generating maps", console=console, transient=True
    ):
        facts = maker.facts(game_map)
        write(folder / f"{facts['map_id']}.json", maker.encode(game_map))
        click.echo(in_words({"file": str(folder / f"{facts['map_id']}.json")} | facts))


def refuse_overwriting(files: list[Path]) -> None:
    """Raise UsageError for the first file that exists."""
    for file in files:
        if file.exists():
            raise UsageError(f"{file} already exists; --force overwrites it")


def in_words(facts: dict[str, Json]) -> str:
    """Return the properties of a map as a line of text."""
    return ", ".join(
        str(value) if name == "file" else f"{name} {value}"
        for name, value in facts.items()
        if name != "map_id"
    )


@maps.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=IN)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each file.")
@click.pass_obj
def check(maker: AnyMapMaker, files: tuple[Path, ...], as_json: bool) -> None:
    """Check maps by the rules of their game.

    Walls, nodes and cores must be symmetric, every open tile reachable, the paths from a player's
    cores to the nodes equally long for all, and the density as requested. Prints `ok` for each
    FILE, or what is wrong with it. Exit code 1 if one is wrong.
    """
    errors = [find_error(maker, file) for file in files]
    for file, error in zip(files, errors, strict=True):
        report = {"file": str(file), "ok": error is None, "error": error}
        click.echo(json.dumps(report) if as_json else f"{file}: {error or 'ok'}")
    if any(errors):
        raise SystemExit(1)


def find_error(maker: AnyMapMaker, file: Path) -> str | None:
    """Return what is wrong with a map file, or None if it is valid."""
    try:
        read(maker, file)
    except UsageError as error:
        return str(error)
    return None


@maps.command()
@click.argument("file", type=IN)
@click.option("--svg", type=OUT, help="Draw to this SVG file instead.")
@click.option("--png", type=OUT, help="Draw to this PNG file instead.")
@click.pass_obj
def show(maker: AnyMapMaker, file: Path, svg: Path | None, png: Path | None) -> None:
    """Draw the map of FILE in the terminal or as a picture.

    \b
      #        wall
      *        where energy appears
      A, B...  start positions of the players
    """
    game_map = read(maker, file)
    if svg:
        write(svg, as_svg(maker.sheet(game_map)))
    if png:
        write(png, as_png(maker.sheet(game_map)))
    if not svg and not png:
        Console(soft_wrap=True).print(map_in_letters(maker.picture(game_map)), highlight=False)


def map_in_letters(lines: Sequence[str]) -> Text:
    """Render a map from its characters: walls, energy, and the letters of the starts."""
    text = Text("\n".join(lines), no_wrap=True)
    styles = {"#": f"white on {TERMINAL_WALL}", "*": "bold yellow", ".": DIM}
    for place, sign in enumerate(text.plain):
        if sign != "\n":
            text.stylize(styles.get(sign) or color(ord(sign) - ord("A")), place, place + 1)
    return text


def read(maker: AnyMapMaker, file: Path) -> Json:
    """Read a map file; raise UsageError if it is invalid."""
    try:
        with file.open("rb") as source:
            data = source.read(LARGEST_FILE)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    return maker.decode(data, file.stem)


def write(file: Path, data: bytes) -> None:
    """Write a file, creating its folders; raise UsageError if that fails."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from None
