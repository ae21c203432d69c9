"""Drawing game boards: shapes, colours, and scenes of a match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import atan2, cos, hypot, pi, sin
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from cw import documents

Point = tuple[float, float]
"""x, to the right, and y, downwards."""


class Rectangle(msgspec.Struct, frozen=True, gc=False):
    """A filled rectangle; (`x`, `y`) is its upper left corner."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    opacity: float = 1.0


class Polygon(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A filled polygon, or its outline if the stroke width is not 0."""

    points: tuple[Point, ...]
    fill: str
    opacity: float = 1.0
    stroke: float = 0.0


class Circle(msgspec.Struct, frozen=True, gc=False):
    """A disc around (`x`, `y`), or a ring if the stroke width is not 0."""

    x: float
    y: float
    r: float
    fill: str
    opacity: float = 1.0
    stroke: float = 0.0


class Stroke(msgspec.Struct, frozen=True, gc=False):
    """A line with round ends."""

    start: Point
    end: Point
    width: float
    fill: str
    opacity: float = 1.0


class Text(msgspec.Struct, frozen=True, gc=False):
    """One line of printable text; its capital letters are vertically centred at `y`."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: Literal["start", "middle", "end"] = "middle"


Shape = Rectangle | Polygon | Circle | Stroke | Text


@dataclass(frozen=True, slots=True)
class Part:
    """Shapes with a common scale and position: their (0, 0) is at (`x`, `y`) of the sheet."""

    shapes: tuple[Shape, ...]
    x: float = 0.0
    y: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole image, with lengths in pixels; `title` is a one-line description."""

    width: int
    height: int
    ground: str
    title: str
    parts: tuple[Part, ...]


COLOURS: Final = (
    ("#0a63b0", "#6cb8ff"),
    ("#b54700", "#ffa24f"),
    ("#00705a", "#45d6a6"),
    ("#a0247c", "#f48fd3"),
    ("#6f5a00", "#f0d848"),
    ("#00728c", "#62dcee"),
    ("#8c1c1c", "#ff8d86"),
    ("#5546b0", "#b9abff"),
)
"""The players' colours, each for a light and for a dark background."""


@dataclass(frozen=True, slots=True)
class Inks:
    """The colours of everything except players."""

    ground: str
    ink: str
    muted: str
    line: str
    stone: str
    glow: str
    death: str
    letter: str
    """The colour of letters on top of a player's colour."""


LIGHT: Final = Inks(
    "#ffffff", "#14201a", "#53625a", "#d5ddd7", "#8b9790", "#14201a", "#a3201d", "#ffffff"
)
DARK: Final = Inks(
    "#121b17", "#e9f0ec", "#9db0a6", "#2b3a33", "#5d6e65", "#ffffff", "#ff8079", "#0a100d"
)


def inks(dark: bool) -> Inks:
    """Return the colours for a light or a dark background."""
    return DARK if dark else LIGHT


def colour_of(seat: int, dark: bool) -> str:
    """Return the colour of the player in a seat; -1 means no player."""
    return inks(dark).muted if seat < 0 else COLOURS[seat % len(COLOURS)][dark]


def letter_of(seat: int) -> str:
    """Return the letters of the player in a seat: A to Z, then AA, AB and so on."""
    rest = chr(ord("A") + seat % 26)
    return rest if seat < 26 else letter_of(seat // 26 - 1) + rest


def mark_of(seat: int, middle: Point, r: float, fill: str, opacity: float = 1.0) -> Shape:
    """Return the mark of the player in a seat, centred at a point; `r` is half its size."""
    x, y = middle
    kind = seat % len(COLOURS)
    if kind == DISC:
        return Circle(x, y, r, fill, opacity)
    if kind == RING:
        return Circle(x, y, 0.8 * r, fill, opacity, stroke=0.6 * r)
    return Polygon(tuple((x + dx * r, y + dy * r) for dx, dy in MARKS[kind]), fill, opacity)


def bar(width: float, height: float) -> tuple[Point, ...]:
    """Return the corners of a rectangle around (0, 0), given half its width and half its height."""
    return ((-width, -height), (width, -height), (width, height), (-width, height))


def plus(r: float, width: float) -> tuple[Point, ...]:
    """Return the corners of an upright cross around (0, 0): half its size, half a bar's width."""
    w = width
    top, left = ((w, -w), (w, -r), (-w, -r)), ((-w, -w), (-r, -w), (-r, w))
    bottom, right = ((-w, w), (-w, r), (w, r)), ((w, w), (r, w), (r, -w))
    return (*top, *left, *bottom, *right)


DISC: Final = 0
RING: Final = 5

MARKS: Final = (
    (),
    ((0.0, -1.1), (1.1, 0.85), (-1.1, 0.85)),
    bar(0.85, 0.85),
    plus(1, 0.38),
    ((0.0, 1.1), (1.1, -0.85), (-1.1, -0.85)),
    (),
    bar(1.1, 0.5),
    bar(0.5, 1.1),
)
"""The corners of the marks around (0, 0), none for circles.

Diamonds and X are not used, as they have other meanings.
"""


LARGEST_SIDE: Final = 4096
"""Maximum number of cells in a row or a column of a board."""

BEFORE: Final = 3
"""Number of earlier frames in a scene; trails and crosses fade over that many frames."""

MOST_PLAYERS: Final = 1000

STILL: Final = (960, 96)
"""The longer side of the board in a still image, and the maximum cell size, in pixels."""

MARGIN: Final = 16
"""The margin of a board in pixels."""

Side = Annotated[int, Meta(ge=1, le=LARGEST_SIDE)]
Coordinate = Annotated[int, Meta(ge=0, lt=LARGEST_SIDE)]
Number = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Key = Number | str

F = TypeVar("F")
T = TypeVar("T")


class DrawnPlayer(msgspec.Struct, frozen=True):
    """A player, with the game's own number or id and the name of its bot."""

    player: Key
    name: str


@dataclass(frozen=True, slots=True)
class Picture(Generic[F]):
    """How a game is drawn; lengths are cells of its board."""

    title: str
    frame: type[F]
    extent: Callable[[F], tuple[float, float]]
    """Returns the width and the height of the board in cells."""

    draw: Callable[[Scene[F]], Iterator[Shape]]
    scores: Callable[[Scene[F]], Sequence[int]]
    """Returns each seat's score for the caption."""

    counted: tuple[str, str]
    """The unit of the scores, singular and plural; "" if the game shows no scores."""

    dark: bool = False
    numbered: bool = False
    """Whether `draw` writes numbers around the board."""


@dataclass(frozen=True, slots=True)
class Scene(Generic[F]):
    """The frame after `turn` turns, together with the replay's turns and the frames before it."""

    picture: Picture[F]
    players: tuple[DrawnPlayer, ...]
    turn: int
    turns: Sequence[Mapping[str, Any]]
    """All turns of the replay, as in its document."""

    frame: F
    past: tuple[F, ...]
    """The preceding frames, the latest first; at most BEFORE."""

    scale: float
    """The size of a cell in pixels."""

    index: Mapping[str, int] = field(repr=False)
    """Player, as text, -> seat number."""

    @property
    def inks(self) -> Inks:
        """The colours that belong to no player."""
        return inks(self.picture.dark)

    @property
    def actions(self) -> Mapping[str, Any]:
        """The actions, by player, of the turn that led to this frame; empty at the start."""
        return self.turns[self.turn - 1]["actions"] if self.turn else {}

    def seat(self, player: Key) -> int:
        """Return a player's seat number, or -1 if there is no such player."""
        return self.index.get(str(player), -1)

    def colour(self, seat: int) -> str:
        """Return the colour of a seat."""
        return colour_of(seat, self.picture.dark)


def counts(scene: Scene[Any], owners: Iterable[Key]) -> list[int]:
    """Return how many things each player owns, given each thing's owner."""
    owned = Counter(map(scene.seat, owners))
    return [owned[seat] for seat in range(len(scene.players))]


def fitting(extent: tuple[float, float], pixels: int, largest: int) -> float:
    """Return the cell size in pixels, at most `largest`, for a board of about `pixels` pixels.

    It is an integer, for sharp edges, unless it is less than 1.
    """
    scale = pixels / max(extent)
    return min(largest, int(scale + 0.5)) if scale >= 1 else scale


def understood(value: Any, kind: type[T]) -> T | None:
    """Convert an action to a type; None if that fails, as rejected actions may be anything."""
    try:
        return documents.convert(value, kind)
    except msgspec.ValidationError:
        return None


LETTERED: Final = 6
"""The minimum radius of a disc with a letter, in pixels."""

MARKED: Final = 3
"""The minimum radius, in pixels, at which the marks can be distinguished."""

GRIDDED: Final = 5
"""The minimum cell size for grid lines, in pixels."""

TICK: Final = 11
"""The font size of the numbers around a board, in pixels."""


def disc(scene: Scene[Any], seat: int, middle: Point, r: float) -> Iterator[Shape]:
    """Yield a disc with its player's letter, or with the player's mark if the disc is too small."""
    fill = scene.colour(seat)
    pixels = scene.scale * r
    if seat >= 0 and MARKED <= pixels < LETTERED:
        yield mark_of(seat, middle, r, fill)
        return
    yield Circle(*middle, r, fill)
    if seat >= 0 and pixels >= LETTERED:
        letter = letter_of(seat)
        size = r * (1.2 if len(letter) == 1 else 0.9)
        yield Text(*middle, letter, size, scene.inks.letter)


def ring(middle: Point, r: float, width: float, fill: str, dashes: int) -> Iterator[Shape]:
    """Yield the dashes of a dashed ring."""
    for dash in range(dashes):
        yield arc(middle, r, width, fill, (dash / dashes, (dash + 0.55) / dashes))


@lru_cache(4096)
def arc(middle: Point, r: float, width: float, fill: str, part: tuple[float, float]) -> Polygon:
    """Return an arc of a ring, from start to end clockwise: 0 is at the top, 1 a full turn."""
    start, end = part
    steps = max(2, int(40 * (end - start)) + 1)
    angles = [2 * pi * (start + (end - start) * step / steps) - pi / 2 for step in range(steps + 1)]
    outer = [along(middle, angle, r + width / 2) for angle in angles]
    inner = [along(middle, angle, r - width / 2) for angle in reversed(angles)]
    return Polygon((*outer, *inner), fill)


def cross(
    middle: Point, r: float, width: float, fill: str, opacity: float = 1.0
) -> Iterator[Shape]:
    """Yield the lines of a diagonal cross."""
    x, y = middle
    yield Stroke((x - r, y - r), (x + r, y + r), width, fill, opacity)
    yield Stroke((x + r, y - r), (x - r, y + r), width, fill, opacity)


def arrow(start: Point, end: Point, width: float, fill: str, broken: bool) -> Iterator[Shape]:
    """Yield the lines of an arrow, dashed if `broken`, with a head at its end."""
    (x, y), (to_x, to_y) = start, end
    angle, length = atan2(to_y - y, to_x - x), hypot(to_x - x, to_y - y)
    head = width * 3
    reach = max(0.0, length - head * 0.8)
    count = max(1, round(reach / (width * 3))) if broken else 1
    for dash in range(count):
        at, to = reach * dash / count, reach * (dash + (0.5 if broken else 1)) / count
        yield Stroke(along(start, angle, at), along(start, angle, to), width, fill)
    sides = (along(end, angle + turn, head) for turn in (2.6, -2.6))
    yield Polygon((end, *sides), fill)


def along(start: Point, angle: float, length: float) -> Point:
    """Return the point at a distance from another one, in the direction of an angle in radians."""
    return start[0] + length * cos(angle), start[1] + length * sin(angle)


def grid(scale: float, width: int, height: int, fill: str) -> Iterator[Shape]:
    """Yield the lines between cells of `scale` pixels, one pixel wide; none if cells are small."""
    if scale < GRIDDED:
        return
    thin = 1 / scale
    for x in range(width + 1):
        yield Rectangle(x - thin / 2, 0, thin, height, fill)
    for y in range(height + 1):
        yield Rectangle(0, y - thin / 2, width, thin, fill)


def axes(scene: Scene[Any], columns: int, rows: int) -> Iterator[Shape]:
    """Yield column numbers below the board, and row numbers to its left from the bottom up."""
    step = step_of(scene.scale)
    for column in range(0, columns, step):
        yield tick(scene, column, column + 0.5, rows + 12 / scene.scale)
    for row in range(0, rows, step):
        yield tick(scene, row, -14 / scene.scale, rows - row - 0.5)


def step_of(scale: float) -> int:
    """Return the step between consecutive numbers around the board, in cells."""
    return next((step for step in (1, 2, 5, 10, 20, 50, 100) if step * scale >= 22), 200)


def tick(scene: Scene[Any], number: int, x: float, y: float) -> Text:
    """Return a number at the edge of the board, centred at a point."""
    return Text(x, y, str(number), TICK / scene.scale, scene.inks.muted)


COLORS: Final = (
    "bold white on blue",
    "bold black on orange1",
    "bold white on dark_green",
    "bold white on magenta",
    "bold black on cyan",
    "bold black on yellow",
)
DIM: Final = "grey50"
TERMINAL_WALL: Final = "grey30"


def color(number: int) -> str:
    """Return the style of a player, given the seat number."""
    return COLORS[number % len(COLORS)]


def letter(number: int) -> str:
    """Return one letter for a player, given the seat number; after Z the letters repeat."""
    return letter_of(number)[-1]
