"""Renders Hexagon boards in the terminal."""

from __future__ import annotations

from rich.text import Text

from cw.drawing import DIM, TERMINAL_WALL, color
from cw.games.rules import Json


def draw(frame: Json) -> Text:
    """Render the board; odd rows are shifted half a cell to the right."""
    signs = {-1: ("#", TERMINAL_WALL), 0: ("·", DIM), 1: ("1", color(0)), 2: ("2", color(1))}
    text = Text()
    for row, cells in enumerate(frame["cells"]):
        text.append(" " * (row % 2))
        for value in cells:
            sign, style = signs[value]
            text.append(sign, style)
            text.append(" ")
        text.append("\n")
    return text
