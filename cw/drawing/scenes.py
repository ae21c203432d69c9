"""A moment of a match as a game is given it to draw, and what a game says of its pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Generic, TypeVar

import msgspec
from msgspec import Meta

from cw.drawing.palette import Inks, colour_of, inks
from cw.drawing.shapes import Shape

LARGEST_SIDE: Final = 4096
"""Cells in a row of a board that is drawn."""

BEFORE: Final = 3
"""Frames before a moment that are kept: trails and crosses fade so long."""

MOST_PLAYERS: Final = 1000

STILL: Final = (960, 96)
"""Pixels of the longer side of a board that does not move, and at most of a cell."""

MARGIN: Final = 16
"""Pixels around a board."""

Side = Annotated[int, Meta(ge=1, le=LARGEST_SIDE)]
Place = Annotated[int, Meta(ge=0, lt=LARGEST_SIDE)]
Number = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Key = Number | str

F = TypeVar("F")
T = TypeVar("T")


class Seat(msgspec.Struct, frozen=True):
    """Who plays: as the game calls the player, and as people do."""

    player: Key
    name: str


@dataclass(frozen=True, slots=True)
class Picture(Generic[F]):
    """How a game is drawn; lengths are cells of its board."""

    title: str
    frame: type[F]
    extent: Callable[[F], tuple[float, float]]
    """Returns the width and the height of the board."""

    draw: Callable[[Scene[F]], Iterator[Shape]]
    scores: Callable[[Scene[F]], Sequence[int]]
    """Returns what the caption says of every seat."""

    counted: tuple[str, str]
    """What the scores count, one of it and many; "" for a game that shows no scores."""

    dark: bool = False
    numbered: bool = False
    """Whether `draw` writes numbers around the board."""


@dataclass(frozen=True, slots=True)
class Scene(Generic[F]):
    """One moment: the frame after `turn` turns, and what led to it."""

    picture: Picture[F]
    seats: tuple[Seat, ...]
    turn: int
    turns: Sequence[Mapping[str, Any]]
    """All turns of the replay, as they are in the document."""

    frame: F
    past: tuple[F, ...]
    """The frames before, the latest first, at most BEFORE."""

    scale: float
    """Pixels of a cell."""

    index: Mapping[str, int] = field(repr=False)

    @property
    def inks(self) -> Inks:
        """Return the colours that are no player's."""
        return inks(self.picture.dark)

    @property
    def actions(self) -> Mapping[str, Any]:
        """Return what the players did in the turn that led here, nothing at the start."""
        return self.turns[self.turn - 1]["actions"] if self.turn else {}

    def seat(self, player: Key) -> int:
        """Return the number of a player's seat, -1 if there is none such."""
        return self.index.get(str(player), -1)

    def colour(self, seat: int) -> str:
        """Return the colour of a seat."""
        return colour_of(seat, self.picture.dark)


def fitting(extent: tuple[float, float], pixels: int, largest: int) -> float:
    """Return the pixels of a cell: a whole number unless cells are smaller than pixels."""
    scale = pixels / max(extent)
    return min(largest, int(scale + 0.5)) if scale >= 1 else scale


def understood(said: Any, kind: type[T]) -> T | None:
    """Read an action, None if it is none of this kind: replays hold refused ones too."""
    try:
        return msgspec.convert(said, kind)
    except msgspec.ValidationError:
        return None
