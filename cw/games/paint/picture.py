"""Renders the Paint board: squares, avatars, shots in flight, obstacles."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from cw.drawing import (
    Circle,
    Coordinate,
    Key,
    Picture,
    Rectangle,
    Scene,
    Shape,
    Side,
    Stroke,
    counts,
    disc,
    grid,
    mark_of,
    understood,
)

MARKED: Final = 16
"""The square size in pixels from which a square shows its owner's mark."""

Step = Annotated[int, Meta(ge=-1, le=1)]


class Frame(msgspec.Struct, frozen=True):
    """The members of a frame that the picture uses; positions are row and column."""

    width: Side
    height: Side
    player_positions: dict[str, tuple[Coordinate, Coordinate]]
    colors: tuple[tuple[Key | None, ...], ...]
    obstacles: tuple[tuple[Coordinate, Coordinate], ...] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a board of another shape, and for positions off the board."""
        rows = self.colors
        if len(rows) != self.height or any(len(row) != self.width for row in rows):
            raise ValueError(f"the colors are not {self.height} rows of {self.width}")
        for row, col in (*self.player_positions.values(), *(self.obstacles or ())):
            if row >= self.height or col >= self.width:
                raise ValueError(f"[{row}, {col}] is not on the board")


class Shot(msgspec.Struct, frozen=True, tag_field="type", tag="shoot"):
    """A player's shot; `direction` is rows down and columns to the right per step."""

    direction: tuple[Step, Step]


def draw(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render the board."""
    frame = scene.frame
    yield Rectangle(0, 0, frame.width, frame.height, scene.inks.ground)
    yield from draw_squares(scene)
    for row, col in frame.obstacles or ():
        yield Rectangle(col + 0.08, row + 0.08, 0.84, 0.84, scene.inks.stone)
    yield from grid(scene.scale, frame.width, frame.height, scene.inks.line)
    yield from draw_shots(scene)
    for player, (row, col) in frame.player_positions.items():
        yield Circle(col + 0.5, row + 0.5, 0.44, scene.inks.ground)
        yield from disc(scene, scene.seat(player), (col + 0.5, row + 0.5), 0.37)


def draw_squares(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render the owned squares."""
    for y, row in enumerate(scene.frame.colors):
        for x, owner in enumerate(row):
            if owner is None:
                continue
            seat = scene.seat(owner)
            yield Rectangle(x, y, 1, 1, scene.colour(seat), 0.62)
            if seat >= 0 and scene.scale >= MARKED:
                yield mark_of(seat, (x + 0.5, y + 0.5), 0.13, scene.inks.ground, 0.55)


def draw_shots(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render the shots of the turn, as far as they are known to have flown."""
    for player, action in scene.actions.items():
        shot = understood(action, Shot)
        place = scene.frame.player_positions.get(player)
        if shot is not None and place is not None and shot.direction != (0, 0):
            reach = max(0.75, flown(scene, player, place, shot.direction))
            row, col = place
            down, across = shot.direction
            start = (col + 0.5, row + 0.5)
            end = (start[0] + across * reach, start[1] + down * reach)
            yield Stroke(start, end, 0.2, scene.inks.ground)
            yield Stroke(start, end, 0.1, scene.colour(scene.seat(player)))
            yield Circle(*end, 0.14, scene.inks.ink)


def flown(
    scene: Scene[Frame], player: str, place: tuple[int, int], direction: tuple[int, int]
) -> int:
    """Return how far a shot has flown: to the last square that changed its colour."""
    before = scene.past[0].colors if scene.past else scene.frame.colors
    reach = 0
    row, col = place
    for step in range(1, max(scene.frame.width, scene.frame.height)):
        row, col = row + direction[0], col + direction[1]
        inside = 0 <= row < scene.frame.height and 0 <= col < scene.frame.width
        if not inside or str(scene.frame.colors[row][col]) != player:
            break
        if str(before[row][col]) != player:
            reach = step
    return reach


def scores(scene: Scene[Frame]) -> list[int]:
    """Count each player's squares."""
    return counts(scene, filter(None, chain.from_iterable(scene.frame.colors)))


PICTURE: Final = Picture(
    title="Paint",
    frame=Frame,
    extent=lambda frame: (frame.width, frame.height),
    draw=draw,
    scores=scores,
    counted=("square", "squares"),
)
