"""The walls and riders as shapes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from cw.author import Picture, Scene, Shape, Stroke, cross, disc, grid
from tron.rules import Square, State


def draw(scene: Scene[State]) -> Iterator[Shape]:
    """Draw the board, and each wall up to its rider."""
    size = scene.frame.size
    yield from grid(scene.scale, size, size, scene.inks.line)
    for seat, rider in enumerate(scene.frame.riders):
        for before, after in pairwise(rider.wall):
            yield Stroke(middle(before), middle(after), 0.3, scene.colour(seat))
        yield from disc(scene, seat, middle(rider.wall[-1]), 0.4)
        if not rider.rides:
            yield from cross(middle(rider.wall[-1]), 0.45, 0.1, scene.inks.ink)


def middle(square: Square) -> tuple[float, float]:
    """Return where the middle of a square is, to the right and downwards."""
    return square[1] + 0.5, square[0] + 0.5


PICTURE: Picture[State] = Picture(
    title="Tron",
    frame=State,
    extent=lambda frame: (frame.size, frame.size),
    draw=draw,
    scores=lambda scene: [len(rider.wall) for rider in scene.frame.riders],
    counted=("square", "squares"),
)
