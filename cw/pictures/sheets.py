"""A scene as a whole picture: the board, and a caption that says what and whose it is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import ceil
from typing import Any, Final

from cw.drawing.palette import letter_of, mark_of
from cw.drawing.scenes import MARGIN, Scene
from cw.drawing.shapes import Circle, Part, Shape, Sheet, Text
from cw.errors import UsageError
from cw.pictures.fonts import fitted, printable, width_of

MOVING: Final = (600, 48)
"""Pixels of the longer side of a board in an animation, and at most of a cell."""

MOST_SHAPES: Final = 250_000
MOST_LISTED: Final = 12
"""Players that are named in the caption."""

NUMBERED_MARGIN: Final = 32
NARROWEST: Final = 360
COLUMN: Final = 250
"""Pixels that the line of a player takes at least, and at most WIDE."""

WIDE: Final = 500
BETWEEN: Final = 40
"""Pixels between two players of a line."""

WIDER: Final = 1.15
"""By how much letters may be wider where an SVG is shown."""

ROW: Final = 26
LARGE: Final = 18
SMALL: Final = 15


def sheet_of(scene: Scene[Any]) -> Sheet:
    """Draw a scene; raise UsageError if there is too much on the board."""
    shapes = tuple(islice(scene.picture.draw(scene), MOST_SHAPES + 1))
    if len(shapes) > MOST_SHAPES:
        raise UsageError(f"there are more than {MOST_SHAPES} things to draw in turn {scene.turn}")
    width, height = (ceil(side * scene.scale) for side in scene.picture.extent(scene.frame))
    margin = NUMBERED_MARGIN if scene.picture.numbered else MARGIN
    whole = max(width + 2 * margin, NARROWEST)
    board = Part(shapes, (whole - width) // 2, margin, scene.scale)
    below = margin + height + margin
    caption = Part(tuple(caption_of(scene, whole)), 0, below)
    return Sheet(
        width=whole,
        height=below + caption_height(scene, whole),
        ground=scene.inks.ground,
        title=f"{scene.picture.title}, turn {scene.turn} of {len(scene.turns)}",
        parts=(board, caption),
    )


def caption_height(scene: Scene[Any], width: int) -> int:
    """Return the height of the caption below a board, in pixels."""
    listed = min(len(scene.seats), MOST_LISTED)
    lines = ceil(listed / columns(listed, width)) + (len(scene.seats) > listed)
    return ROW + lines * ROW + MARGIN


def columns(listed: int, width: int) -> int:
    """Return how many players stand in a line."""
    return min(listed, max(1, (width - 2 * MARGIN + BETWEEN) // (COLUMN + BETWEEN)))


def caption_of(scene: Scene[Any], width: int) -> Iterator[Shape]:
    """Write the game and the turn, and below them the players."""
    ink, muted = scene.inks.ink, scene.inks.muted
    yield Text(MARGIN, ROW / 2, scene.picture.title, LARGE, ink, "start")
    turn = f"turn {scene.turn} of {len(scene.turns)}"
    yield Text(width - MARGIN, ROW / 2, turn, SMALL, muted, "end")
    listed = min(len(scene.seats), MOST_LISTED)
    count = columns(listed, width)
    column = min(WIDE, (width - 2 * MARGIN + BETWEEN) / count - BETWEEN)
    scores = scene.picture.scores(scene)
    for seat in range(listed):
        left = MARGIN + seat % count * (column + BETWEEN)
        top = ROW * (1 + seat // count)
        score = scores[seat] if seat < len(scores) else 0
        yield from player_line(scene, seat, score, (left, top, column))
    if len(scene.seats) > listed:
        below = ROW * (1.5 + ceil(listed / count))
        yield Text(MARGIN, below, f"and {len(scene.seats) - listed} more", SMALL, muted, "start")


def player_line(
    scene: Scene[Any], seat: int, score: int, place: tuple[float, float, float]
) -> Iterator[Shape]:
    """Write a player's letter, mark, name and score; the place is left, top and width."""
    left, top, width = place
    y = top + ROW / 2
    letter = letter_of(seat)
    yield Circle(left + 10, y, 10, scene.colour(seat))
    yield Text(left + 10, y, letter, 12 if len(letter) == 1 else 9, scene.inks.letter)
    yield mark_of(seat, (left + 30, y), 5, scene.colour(seat))
    one, many = scene.picture.counted
    said = f"{score} {one if score == 1 else many}" if many else ""
    space = (width - 42) / WIDER - width_of(said, SMALL) - 8
    name = fitted(printable(scene.seats[seat].name), SMALL, space)
    yield Text(left + 42, y, name, SMALL, scene.inks.ink, "start")
    yield Text(left + width, y, said, SMALL, scene.inks.ink, "end")
