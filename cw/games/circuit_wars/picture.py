"""Renders the Circuit Wars board: segments, areas and the last move."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from cw.drawing import Circle, Number, Picture, Rectangle, Scene, Shape, Stroke, mark_of

TOP, RIGHT, BOTTOM, LEFT = 1, 2, 4, 8
MOVE: Final = re.compile(r"(\d{1,4}),(\d{1,4}),(top|right|bottom|left)")

LONGEST_MOVE: Final = len("1000,1000,bottom")

LARGEST: Final = 200
"""The size of the largest board that is rendered, in squares per row."""

Square = Annotated[int, Meta(ge=0, lt=64)]
"""The drawn borders in the low four bits, and the owner in the bits above."""


class Frame(msgspec.Struct, frozen=True):
    """The members of a frame that the picture uses."""

    size: Annotated[int, Meta(ge=1, le=LARGEST)]
    board: tuple[tuple[Square, ...], ...]
    scores: tuple[Number, ...]
    last_move: str

    def __post_init__(self) -> None:
        """Raise ValueError unless the board has `size` rows and columns."""
        if len(self.board) != self.size or any(len(row) != self.size for row in self.board):
            raise ValueError(f"the board is not {self.size} by {self.size} squares")


class Segment(NamedTuple):
    """A segment that starts at the point (x, y) and runs right or down."""

    way: Literal["right", "down"]
    x: int
    y: int

    @property
    def line(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return both ends."""
        right = self.way == "right"
        return (self.x, self.y), (self.x + right, self.y + (not right))

    @property
    def sides(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Return the squares on both sides, each as x, y and the segment's bit there."""
        if self.way == "right":
            return (self.x, self.y - 1, BOTTOM), (self.x, self.y, TOP)
        return (self.x - 1, self.y, RIGHT), (self.x, self.y, LEFT)


def draw(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render the board."""
    frame = scene.frame
    for y, row in enumerate(frame.board):
        for x, square in enumerate(row):
            if square >> 4:
                yield from draw_owned(scene, x, y, scene.seat(square >> 4))
    yield from draw_segments(scene)
    for y in range(frame.size + 1):
        for x in range(frame.size + 1):
            yield Circle(x, y, 0.075, scene.inks.ink)


def draw_owned(scene: Scene[Frame], x: int, y: int, seat: int) -> Iterator[Shape]:
    """Render a square of a closed area."""
    yield Rectangle(x, y, 1, 1, scene.colour(seat), 0.42)
    if seat >= 0:
        yield mark_of(seat, (x + 0.5, y + 0.5), 0.12, scene.colour(seat), 0.8)


def draw_segments(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render the free segments, then the drawn ones in the colours of their players."""
    frame, authors = scene.frame, drawn_by(scene)
    conditions = {segment: condition(frame, segment) for segment in segments(frame.size)}
    for segment, state in conditions.items():
        if state == "free":
            yield Stroke(*segment.line, 0.025, scene.inks.line)
    last = segment_of(frame.last_move)
    if last is not None and conditions.get(last) == "drawn":
        yield Stroke(*last.line, 0.24, scene.inks.glow)
    for segment, state in conditions.items():
        if state == "drawn":
            seat = authors.get(segment, -1)
            yield Stroke(*segment.line, 0.12, scene.colour(seat))
            if seat == 1:
                # A light core distinguishes the second player without colour.
                yield Stroke(*segment.line, 0.03, scene.inks.ground)


@lru_cache(4)
def segments(size: int) -> tuple[Segment, ...]:
    """Return every segment of a board once."""
    return tuple(
        segment
        for line in range(size + 1)
        for at in range(size)
        for segment in (Segment("right", at, line), Segment("down", line, at))
    )


def condition(frame: Frame, segment: Segment) -> Literal["drawn", "free", "inner"]:
    """Return whether a segment is drawn, free, or lies inside a closed area."""
    inside = range(frame.size)
    squares = [
        (frame.board[y][x], bit) for x, y, bit in segment.sides if x in inside and y in inside
    ]
    if any(square & bit for square, bit in squares):
        return "drawn"
    return "inner" if any(square >> 4 for square, _ in squares) else "free"


def drawn_by(scene: Scene[Frame]) -> dict[Segment, int]:
    """Return the seat that first drew each segment; segments of the start position have none."""
    owners: dict[Segment, int] = {}
    for turn in scene.turns[: scene.turn]:
        for player, action in turn["actions"].items():
            segment = segment_of(action)
            if segment is not None:
                owners.setdefault(segment, scene.seat(player))
    return owners


def segment_of(move: Any) -> Segment | None:
    """Return the segment that a move names, by either of its names, or None for anything else."""
    is_short = isinstance(move, str) and len(move) <= LONGEST_MOVE
    return segment_named(move) if is_short else None


@lru_cache(16384)
def segment_named(move: str) -> Segment | None:
    """Return the segment with a name; cached, since an animation looks up all turns repeatedly."""
    named = MOVE.fullmatch(move)
    if named is None:
        return None
    x, y, border = int(named[1]), int(named[2]), named[3]
    if border in ("top", "bottom"):
        return Segment("right", x, y + (border == "bottom"))
    return Segment("down", x + (border == "right"), y)


PICTURE: Final = Picture(
    title="Circuit Wars",
    frame=Frame,
    extent=lambda frame: (frame.size, frame.size),
    draw=draw,
    scores=lambda scene: scene.frame.scores,
    counted=("square", "squares"),
)
