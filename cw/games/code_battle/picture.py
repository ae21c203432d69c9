"""Renders the Code Battle torus with walls, energy, cores, bots and their trails."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from cw.drawing import (
    BEFORE,
    LETTERED,
    MOST_PLAYERS,
    Circle,
    Coordinate,
    Number,
    Picture,
    Polygon,
    Rectangle,
    Scene,
    Shape,
    Side,
    Stroke,
    Text,
    colour_of,
    cross,
    disc,
    grid,
    letter_of,
)

GROUND: Final = "#0b1118"
LINES: Final = "#17212b"
EDGE: Final = "#3a4856"
WALL: Final = "#4a5663"
ENERGY: Final = "#ffe14d"
DEATH: Final = "#ff5c5c"
FLASH: Final = "#ffffff"

Slot = Annotated[int, Meta(ge=0, lt=MOST_PLAYERS)]


class Config(msgspec.Struct, frozen=True):
    """The size of the torus."""

    rows: Side
    cols: Side


class Node(msgspec.Struct, frozen=True):
    """A tile on which energy appears."""

    row: Coordinate
    col: Coordinate
    energy: bool


class Core(msgspec.Struct, frozen=True):
    """A core; an inactive one is razed."""

    row: Coordinate
    col: Coordinate
    owner: Slot
    active: bool


class Bot(msgspec.Struct, frozen=True, rename={"number": "id"}):
    """A bot."""

    number: Number
    row: Coordinate
    col: Coordinate
    owner: Slot


class Death(msgspec.Struct, frozen=True):
    """Where a bot died in this turn."""

    row: Coordinate
    col: Coordinate


class PlayerTotals(msgspec.Struct, frozen=True):
    """A player's score."""

    score: Number


Thing = Node | Core | Bot | Death


class Frame(msgspec.Struct, frozen=True):
    """The members of a frame that the picture uses."""

    config: Config
    walls: tuple[tuple[Coordinate, Coordinate], ...]
    nodes: tuple[Node, ...]
    cores: tuple[Core, ...]
    bots: tuple[Bot, ...]
    players: tuple[PlayerTotals, ...]
    dead: tuple[Death, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for positions off the torus."""
        lists: tuple[tuple[Thing, ...], ...] = (self.nodes, self.cores, self.bots, self.dead)
        places = ((piece.row, piece.col) for pieces in lists for piece in pieces)
        for row, col in (*self.walls, *places):
            if row >= self.config.rows or col >= self.config.cols:
                raise ValueError(f"[{row}, {col}] is not on the torus")


def draw(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render the torus."""
    frame = scene.frame
    yield from draw_ground(frame.config.rows, frame.config.cols, frame.walls, scene.scale)
    for node in frame.nodes:
        yield draw_node(node.row, node.col, node.energy)
    for core in frame.cores:
        yield from draw_core(core, scene.scale)
    yield from draw_trails(scene)
    for bot in frame.bots:
        yield from disc(scene, bot.owner, (bot.col + 0.5, bot.row + 0.5), 0.42)
    yield from draw_deaths(scene)


def draw_ground(
    rows: int, cols: int, walls: tuple[tuple[int, int], ...], scale: float
) -> Iterator[Shape]:
    """Render the empty torus; a tile is `scale` pixels wide."""
    thick = 1.5 / scale
    yield Rectangle(-thick, -thick, cols + 2 * thick, rows + 2 * thick, EDGE)
    yield Rectangle(0, 0, cols, rows, GROUND)
    yield from grid(scale, cols, rows, LINES)
    for row, col in walls:
        yield Rectangle(col, row, 1, 1, WALL)


def draw_node(row: int, col: int, energy: bool) -> Shape:
    """Render energy as a diamond, and an empty node as a hollow one."""
    x, y, r = col + 0.5, row + 0.5, 0.46 if energy else 0.3
    diamond = ((x, y - r), (x + r, y), (x, y + r), (x - r, y))
    return Polygon(diamond, ENERGY, 0.9) if energy else Polygon(diamond, ENERGY, 0.5, stroke=0.08)


def draw_core(core: Core, scale: float) -> Iterator[Shape]:
    """Render a core with a ring and its owner's letter, a razed one with a cross."""
    x, y = core.col + 0.5, core.row + 0.5
    ink = colour_of(core.owner, dark=True)
    yield Circle(x, y, 0.85, ink, 0.5 if core.active else 0.2)
    yield Circle(x, y, 1.15, ink, 1 if core.active else 0.6, stroke=0.16)
    if not core.active:
        yield from cross((x, y), 0.8, 0.22, DEATH)
    elif scale >= LETTERED:
        yield Text(x, y, letter_of(core.owner), max(9 / scale, 0.95), FLASH)


def draw_trails(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render trails of the bots' positions in earlier turns."""
    way = [{bot.number: bot for bot in frame.bots} for frame in (scene.frame, *scene.past)]
    for back, (since, then) in enumerate(pairwise(way), 1):
        for bot in scene.frame.bots:
            start, end = then.get(bot.number), since.get(bot.number)
            # Skip steps across the edge of the map.
            if start and end and abs(start.row - end.row) + abs(start.col - end.col) == 1:
                yield Stroke(
                    (start.col + 0.5, start.row + 0.5),
                    (end.col + 0.5, end.row + 0.5),
                    0.34 - 0.06 * back,
                    scene.colour(bot.owner),
                    0.55 / back,
                )


def draw_deaths(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render a flash where bots died in this turn, and a cross that fades over the next ones."""
    fading = (scene.frame, *scene.past)[:BEFORE]
    for back, frame in reversed(list(enumerate(fading))):
        for death in frame.dead:
            x, y = death.col + 0.5, death.row + 0.5
            if back == 0:
                yield from (Circle(x, y, r, FLASH, 0.2) for r in (1.3, 0.9, 0.5))
            yield from cross((x, y), 0.34, 0.16, DEATH, 1 - back / BEFORE)


def scores(scene: Scene[Frame]) -> list[int]:
    """Return the score of each player."""
    return [stats.score for stats in scene.frame.players]


PICTURE: Final = Picture(
    title="Code Battle",
    frame=Frame,
    extent=lambda frame: (frame.config.cols, frame.config.rows),
    draw=draw,
    scores=scores,
    counted=("point", "points"),
    dark=True,
)
