"""The layout of a whole image: the board, and a caption with the game, turn and players."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from math import ceil
from typing import Any, Final

from cw.drawing import (
    MARGIN,
    Circle,
    Part,
    Rectangle,
    Scene,
    Shape,
    Sheet,
    Text,
    letter_of,
    mark_of,
)
from cw.errors import UsageError
from cw.pictures.raster import fitted, printable, width_of

MOVING: Final = (600, 48)
"""The longer side of the board in an animation, and the maximum cell size, in pixels."""

SMALLEST: Final = (360, 40)
"""The same for a thumbnail in a list."""

MOST_SHAPES: Final = 250_000
"""The maximum number of shapes on a board."""

MOST_LISTED: Final = 12
"""The maximum number of players named in the caption."""

NUMBERED_MARGIN: Final = 32
"""The margin of a board with numbers around it, in pixels."""

NARROWEST: Final = 360
"""The minimum width of an image in pixels."""

COLUMN: Final = 250
"""The minimum width of a player's entry in the caption, in pixels."""

WIDE: Final = 500
"""The maximum width of a player's entry in the caption, in pixels."""

BETWEEN: Final = 40
"""The space between two players in the same row, in pixels."""

WIDER: Final = 1.15
"""Allowance for wider fonts, since an SVG is displayed in its viewer's own font."""

ROW: Final = 26
"""The height of a row of the caption, in pixels."""

LARGE: Final = 18
SMALL: Final = 15
"""The sizes of the font, in pixels."""

BAND: Final = (-9, 34)
"""The top of the result band, relative to the caption, and its height, in pixels."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended, for its last image."""

    sentence: str
    seat: int
    """The winner's seat number; -1 if no one has won."""


def sheet_of(scene: Scene[Any], result: Result | None = None) -> Sheet:
    """Return the sheet of a scene; after the last turn, it includes a band with the result.

    Raises UsageError if its board has more than MOST_SHAPES shapes.
    """
    board = board_sheet(scene)
    is_last = scene.turn == len(scene.turns)
    width = board.width
    title = result_line(scene, result, width) if result and is_last else title_line(scene, width)
    caption = Part((*title, *player_lines(scene, width)), 0, board.height)
    return replace(
        board, height=board.height + caption_height(scene, width), parts=(*board.parts, caption)
    )


def board_sheet(scene: Scene[Any]) -> Sheet:
    """Return the sheet of a board alone; raise UsageError if it has more than MOST_SHAPES."""
    shapes = tuple(islice(scene.picture.draw(scene), MOST_SHAPES + 1))
    if len(shapes) > MOST_SHAPES:
        raise UsageError(f"there are more than {MOST_SHAPES} things to draw in turn {scene.turn}")
    width, height = (ceil(side * scene.scale) for side in scene.picture.extent(scene.frame))
    margin = NUMBERED_MARGIN if scene.picture.numbered else MARGIN
    whole = max(width + 2 * margin, NARROWEST)
    return Sheet(
        width=whole,
        height=margin + height + margin,
        ground=scene.inks.ground,
        title=f"{scene.picture.title}, {turn_of(scene)}",
        parts=(Part(shapes, (whole - width) // 2, margin, scene.scale),),
    )


def caption_height(scene: Scene[Any], width: int) -> int:
    """Return the height of the caption in pixels, given the width of the image."""
    listed = min(len(scene.players), MOST_LISTED)
    lines = ceil(listed / columns(listed, width)) + (len(scene.players) > listed)
    return ROW + lines * ROW + MARGIN


def columns(listed: int, width: int) -> int:
    """Return the number of players per row of the caption."""
    return min(listed, max(1, (width - 2 * MARGIN + BETWEEN) // (COLUMN + BETWEEN)))


def title_line(scene: Scene[Any], width: int) -> Iterator[Shape]:
    """Yield the line with the game and the turn."""
    yield Text(MARGIN, ROW / 2, scene.picture.title, LARGE, scene.inks.ink, "start")
    yield Text(width - MARGIN, ROW / 2, turn_of(scene), SMALL, scene.inks.muted, "end")


def result_line(scene: Scene[Any], result: Result, width: int) -> Iterator[Shape]:
    """Yield a band in the winner's colour with the result, and the turn."""
    top, height = BAND
    turn, ink = turn_of(scene), scene.inks.letter
    yield Rectangle(0, top, width, height, scene.colour(result.seat))
    space = (width - 2 * MARGIN) / WIDER - width_of(turn, SMALL) - MARGIN
    sentence = fitted(printable(result.sentence), LARGE, space)
    yield Text(MARGIN, top + height / 2, sentence, LARGE, ink, "start")
    yield Text(width - MARGIN, top + height / 2, turn, SMALL, ink, "end")


def turn_of(scene: Scene[Any]) -> str:
    """Return the turn as text."""
    return f"turn {scene.turn} of {len(scene.turns)}"


def player_lines(scene: Scene[Any], width: int) -> Iterator[Shape]:
    """Yield the players with their scores, in columns below the title."""
    listed = min(len(scene.players), MOST_LISTED)
    count = columns(listed, width)
    column = min(WIDE, (width - 2 * MARGIN + BETWEEN) / count - BETWEEN)
    scores = scene.picture.scores(scene)
    for seat in range(listed):
        left = MARGIN + seat % count * (column + BETWEEN)
        top = ROW * (1 + seat // count)
        score = scores[seat] if seat < len(scores) else 0
        yield from player_line(scene, seat, score, (left, top, column))
    if len(scene.players) > listed:
        below = ROW * (1.5 + ceil(listed / count))
        more = f"and {len(scene.players) - listed} more"
        yield Text(MARGIN, below, more, SMALL, scene.inks.muted, "start")


def player_line(
    scene: Scene[Any], seat: int, score: int, place: tuple[float, float, float]
) -> Iterator[Shape]:
    """Yield a player's letter, mark, name and score; `place` is left, top and width in pixels."""
    left, top, width = place
    y = top + ROW / 2
    letter = letter_of(seat)
    yield Circle(left + 10, y, 10, scene.colour(seat))
    yield Text(left + 10, y, letter, 12 if len(letter) == 1 else 9, scene.inks.letter)
    yield mark_of(seat, (left + 30, y), 5, scene.colour(seat))
    singular, plural = scene.picture.counted
    score_text = f"{score} {singular if score == 1 else plural}" if plural else ""
    space = (width - 42) / WIDER - width_of(score_text, SMALL) - 8
    name = fitted(printable(scene.players[seat].name), SMALL, space)
    yield Text(left + 42, y, name, SMALL, scene.inks.ink, "start")
    yield Text(left + width, y, score_text, SMALL, scene.inks.ink, "end")
