"""States as text: the drawings of a game that has none of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from textwrap import TextWrapper
from typing import Any, Final

from rich.text import Text as RichText

from cw.drawing.scenes import Picture, Scene
from cw.drawing.shapes import Shape, Text
from cw.games.rules import Json

COLUMNS: Final = 80
ROWS: Final = 24
"""Lines of text on a picture; what does not fit is left out."""

WRAPPER: Final = TextWrapper(COLUMNS, max_lines=ROWS, placeholder=" ...", break_on_hyphens=False)


def text_picture(game: str) -> Picture[Any]:
    """Return the picture of a game that shows frames as JSON in lines."""
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
