"""The moments of a replay, read with care: what a game is given to draw."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated, Any, Final, Generic, TypeVar

import msgspec
from msgspec import Meta

from cw.errors import ProtocolError, UsageError
from cw.pictures.palette import Inks, colour_of, inks
from cw.pictures.shapes import Shape

LARGEST_SIDE: Final = 4096
"""Cells in a row of a board that is drawn."""

BEFORE: Final = 3
"""Frames before a moment that are kept: trails and crosses fade so long."""

MOST_PLAYERS: Final = 1000

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


class Head(msgspec.Struct, frozen=True):
    """What is drawn of a replay beside its frames."""

    game: str
    players: Annotated[tuple[Seat, ...], Meta(min_length=1, max_length=MOST_PLAYERS)]


@dataclass(frozen=True, slots=True)
class Game(Generic[F]):
    """How a game is drawn; lengths are cells of its board."""

    title: str
    frame: type[F]
    extent: Callable[[F], tuple[float, float]]
    """Returns the width and the height of the board."""

    draw: Callable[[Scene[F]], Iterator[Shape]]
    scores: Callable[[Scene[F]], Sequence[int]]
    """Returns what the caption says of every seat."""

    counted: tuple[str, str]
    """What the scores count, one of it and many."""

    dark: bool = False
    numbered: bool = False
    """Whether `draw` writes numbers around the board."""


@dataclass(frozen=True, slots=True)
class Scene(Generic[F]):
    """One moment: the frame after `turn` turns, and what led to it."""

    game: Game[F]
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
        return inks(self.game.dark)

    @property
    def actions(self) -> Mapping[str, Any]:
        """Return what the players did in the turn that led here, nothing at the start."""
        return self.turns[self.turn - 1]["actions"] if self.turn else {}

    def seat(self, player: Key) -> int:
        """Return the number of a player's seat, -1 if there is none such."""
        return self.index.get(str(player), -1)

    def colour(self, seat: int) -> str:
        """Return the colour of a seat."""
        return colour_of(seat, self.game.dark)


def scenes(
    games: Mapping[str, Game[Any]],
    document: Mapping[str, Any],
    frames: Iterable[Any],
    chosen: Sequence[int],
    size: tuple[int, int],
) -> Iterator[Scene[Any]]:
    """Return the scenes after the chosen turns, which are in order.

    `size` is about the pixels of the board's longer side, and at most those of a cell. Raises
    ProtocolError where the document or a frame cannot be read, UsageError for a game without
    pictures.
    """
    head = read(document, Head, "the replay")
    if head.game not in games:
        raise UsageError(
            f"no pictures of {head.game[:40]!r}; there are: {', '.join(sorted(games))}"
        )
    game = games[head.game]
    index = {str(seat.player): number for number, seat in enumerate(head.players)}
    recent: deque[Any] = deque(maxlen=BEFORE + 1)
    wanted = frozenset(chosen)
    first = max(0, chosen[0] - BEFORE)
    for turn, said in enumerate(islice(frames, first, chosen[-1] + 1), first):
        frame = read(said, game.frame, f"the frame after turn {turn}")
        if recent and game.extent(frame) != game.extent(recent[0]):
            raise ProtocolError(f"the board changes its size in turn {turn}")
        recent.appendleft(frame)
        if turn in wanted:
            scale = fitting(game.extent(frame), *size)
            now, *past = recent
            turns = document["turns"]
            yield Scene(game, head.players, turn, turns, now, tuple(past), scale, index)


def fitting(extent: tuple[float, float], pixels: int, largest: int) -> float:
    """Return the pixels of a cell: a whole number unless cells are smaller than pixels."""
    scale = pixels / max(extent)
    return min(largest, int(scale + 0.5)) if scale >= 1 else scale


def read(said: Any, kind: type[T], what: str) -> T:
    """Read a document; raise ProtocolError, with the place that is wrong."""
    try:
        return msgspec.convert(said, kind)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"{what} cannot be drawn: {error}") from None


def understood(said: Any, kind: type[T]) -> T | None:
    """Read an action, None if it is none of this kind: replays hold refused ones too."""
    try:
        return msgspec.convert(said, kind)
    except msgspec.ValidationError:
        return None
