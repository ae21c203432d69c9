"""Scenes of a replay, whose document and frames are untrusted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from cw import documents
from cw.drawing.scenes import BEFORE, MOST_PLAYERS, DrawnPlayer, Picture, Scene, fitting
from cw.errors import ProtocolError

T = TypeVar("T")


class Head(msgspec.Struct, frozen=True):
    """The members of a replay that are drawn, besides its frames."""

    players: Annotated[tuple[DrawnPlayer, ...], Meta(min_length=1, max_length=MOST_PLAYERS)]


def scenes(
    picture: Picture[Any],
    document: Mapping[str, Any],
    frames: Iterable[Any],
    turn_numbers: Sequence[int],
    size: tuple[int, int],
) -> Iterator[Scene[Any]]:
    """Yield the scenes after the chosen turns, which must be in ascending order.

    `size` is the wanted length of the board's longer side, and the maximum cell size, in pixels.
    Raises ProtocolError if a document or a frame is invalid.
    """
    head = read(document, Head, "the replay")
    index = {str(seat.player): number for number, seat in enumerate(head.players)}
    recent: deque[Any] = deque(maxlen=BEFORE + 1)
    targets = frozenset(turn_numbers)
    drawn = {turn - back for turn in targets for back in range(BEFORE + 1)}
    first = max(0, turn_numbers[0] - BEFORE)
    for turn, value in enumerate(islice(frames, first, turn_numbers[-1] + 1), first):
        if turn not in drawn:
            continue
        frame = read(value, picture.frame, f"the frame after turn {turn}")
        if recent and picture.extent(frame) != picture.extent(recent[0]):
            raise ProtocolError(f"the board changes its size in turn {turn}")
        recent.appendleft(frame)
        if turn in targets:
            scale = fitting(picture.extent(frame), *size)
            now, *past = recent
            turns = document["turns"]
            yield Scene(picture, head.players, turn, turns, now, tuple(past), scale, index)


def read(value: Any, kind: type[T], what: str) -> T:
    """Convert a document to a type; raise ProtocolError, saying where, if invalid."""
    try:
        return documents.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"{what} cannot be drawn: {error}") from None
