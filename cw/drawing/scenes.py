"""A scene (one frame of a match to draw), and how a game is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Generic, TypeVar

import msgspec
from msgspec import Meta

from cw import documents
from cw.drawing.palette import Inks, colour_of, inks
from cw.drawing.shapes import Shape

LARGEST_SIDE: Final = 4096
"""Maximum cells in a row or a column of a board."""

BEFORE: Final = 3
"""Number of earlier frames in a scene: trails and crosses fade over that many."""

MOST_PLAYERS: Final = 1000

STILL: Final = (960, 96)
"""The longer side of the board of a still, and the maximum cell size, in pixels."""

MARGIN: Final = 16
"""The margin of a board in pixels."""

Side = Annotated[int, Meta(ge=1, le=LARGEST_SIDE)]
Place = Annotated[int, Meta(ge=0, lt=LARGEST_SIDE)]
Number = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Key = Number | str

F = TypeVar("F")
T = TypeVar("T")


class DrawnPlayer(msgspec.Struct, frozen=True):
    """A player, by the game's own number or id, and by the name of its bot."""

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
    """Returns the score of every seat for the caption."""

    counted: tuple[str, str]
    """The unit of the scores, singular and plural; "" if the game shows no scores."""

    dark: bool = False
    numbered: bool = False
    """Whether `draw` writes numbers around the board."""


@dataclass(frozen=True, slots=True)
class Scene(Generic[F]):
    """The frame after `turn` turns, and the turns and frames before it."""

    picture: Picture[F]
    players: tuple[DrawnPlayer, ...]
    turn: int
    turns: Sequence[Mapping[str, Any]]
    """All turns of the replay, as they are in the document."""

    frame: F
    past: tuple[F, ...]
    """The preceding frames, the latest first, at most BEFORE."""

    scale: float
    """The size of a cell in pixels."""

    index: Mapping[str, int] = field(repr=False)
    """Player as text -> the number of its seat."""

    @property
    def inks(self) -> Inks:
        """The colours that belong to no player."""
        return inks(self.picture.dark)

    @property
    def actions(self) -> Mapping[str, Any]:
        """The actions, by player, of the turn that led to this frame; none at the start."""
        return self.turns[self.turn - 1]["actions"] if self.turn else {}

    def seat(self, player: Key) -> int:
        """Return the number of a player's seat, -1 if there is no such player."""
        return self.index.get(str(player), -1)

    def colour(self, seat: int) -> str:
        """Return the colour of a seat."""
        return colour_of(seat, self.picture.dark)


def counts(scene: Scene[Any], owners: Iterable[Key]) -> list[int]:
    """Return how many things each player owns, given the owner of each thing."""
    owned = Counter(map(scene.seat, owners))
    return [owned[seat] for seat in range(len(scene.players))]


def fitting(extent: tuple[float, float], pixels: int, largest: int) -> float:
    """Return the size of a cell in pixels, at most `largest`, for a board of about `pixels`.

    It is an integer, for sharp edges, unless it is less than 1.
    """
    scale = pixels / max(extent)
    return min(largest, int(scale + 0.5)) if scale >= 1 else scale


def understood(value: Any, kind: type[T]) -> T | None:
    """Convert an action to a type; None if that fails, as refused actions may be anything."""
    try:
        return documents.convert(value, kind)
    except msgspec.ValidationError:
        return None
