"""Frames as text: the pictures of games that draw none of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from textwrap import TextWrapper
from typing import Any, Final, TypeAlias

from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text as RichText

from cw.drawing.scenes import Picture, Scene
from cw.drawing.shapes import Point, Rectangle, Shape, Text
from cw.errors import ProtocolError
from cw.games.rules import Json

Board: TypeAlias = Callable[[Json], RichText]
"""Draws a frame in the terminal."""

COLUMNS: Final = 80
ROWS: Final = 24
"""Most lines of text in a picture; the rest is left out."""

MOST_COLUMNS: Final = 200
MOST_ROWS: Final = 100
"""Most lines of a terminal board in a picture."""

WIDTH: Final = 0.6
"""The width of a character, relative to a line height of 1."""

WRAPPER: Final = TextWrapper(COLUMNS, max_lines=ROWS, placeholder=" ...", break_on_hyphens=False)


def text_picture(game: str) -> Picture[Any]:
    """Return the picture of a game that shows frames as lines of JSON."""
    return Picture(
        title=game.replace("-", " ").title(),
        frame=object,
        extent=lambda _: (COLUMNS / 2, ROWS),
        draw=draw,
        scores=lambda _: (),
        counted=("", ""),
    )


def draw(scene: Scene[Json]) -> Iterator[Shape]:
    """Draw the frame as text."""
    for row, line in enumerate(WRAPPER.wrap(json.dumps(scene.frame))):
        yield Text(0, row + 0.5, line, 0.7, scene.inks.ink, "start")


def draw_in_terminal(frame: Json) -> RichText:
    """Return a frame as JSON."""
    return RichText(json.dumps(frame))


def terminal_picture(game: str, draw_board: Board) -> Picture[Any]:
    """Return the picture of a game that only draws in the terminal, on a dark ground as there.

    It is as large as the first frame that it shows.
    """
    board = TerminalBoard(draw_board)
    return Picture(
        title=game.replace("-", " ").title(),
        frame=object,
        extent=board.extent,
        draw=board.draw,
        scores=lambda _: (),
        counted=("", ""),
        dark=True,
    )


class TerminalBoard:
    """A terminal board as shapes: each character has its own place, in any font."""

    def __init__(self, draw_board: Board) -> None:
        """Start with the size unknown."""
        self.draw_board = draw_board
        self.size: tuple[float, float] | None = None

    def extent(self, frame: Json) -> tuple[float, float]:
        """Return the width and the height of all frames."""
        if self.size is None:
            lines = lines_of(self.draw_board, frame)
            self.size = (WIDTH * max(1, *map(len, lines)), max(1, len(lines)))
        return self.size

    def draw(self, scene: Scene[Json]) -> Iterator[Shape]:
        """Draw the characters in their terminal colours."""
        console = Console()
        for row, line in enumerate(lines_of(self.draw_board, scene.frame)):
            column = 0
            for part in line.render(console):
                style = part.style or Style()
                for sign in part.text:
                    yield from shapes_of(sign, style, (WIDTH * column, row), scene.inks.ink)
                    column += 1


def shapes_of(sign: str, style: Style, place: Point, ink: str) -> Iterator[Shape]:
    """Yield a character with its background; `place` is its upper left corner."""
    left, top = place
    ground = colour_of(style.bgcolor)
    if ground is not None:
        yield Rectangle(left, top, WIDTH, 1, ground)
    if sign.isprintable() and not sign.isspace():
        yield Text(left + WIDTH / 2, top + 0.5, sign, 0.9, colour_of(style.color) or ink)


def colour_of(colour: Color | None) -> str | None:
    """Return a terminal colour for pictures, or None for the colour of the page."""
    return None if colour is None or colour.is_default else colour.get_truecolor().hex


def lines_of(draw_board: Board, frame: Json) -> list[RichText]:
    """Return the lines of a terminal board, cut if they are too many or too long.

    Raises ProtocolError for a frame that cannot be drawn.
    """
    try:
        lines = list(draw_board(frame).split("\n"))[:MOST_ROWS]
    # The frame comes from a file, and drawing code trusts its contents.
    except Exception as error:
        raise ProtocolError(f"the frame cannot be drawn: {type(error).__name__}") from None
    return [line[:MOST_COLUMNS] for line in lines]
