"""Maps as pictures, drawn like the board of a match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from cw.drawing.palette import DARK
from cw.drawing.scenes import MARGIN, STILL, fitting
from cw.drawing.shapes import Part, Shape, Sheet
from cw.games.code_battle.picture import Core, draw_core, draw_ground, draw_node


def map_sheet(lines: Sequence[str], title: str) -> Sheet:
    """Draw a map: `#` is a wall, `*` an energy node, `A`, `B` and so on the starts."""
    cols, rows = len(lines[0]), len(lines)
    scale = fitting((cols, rows), *STILL)
    return Sheet(
        width=ceil(cols * scale) + 2 * MARGIN,
        height=ceil(rows * scale) + 2 * MARGIN,
        ground=DARK.ground,
        title=title,
        parts=(Part(tuple(draw(lines, scale)), MARGIN, MARGIN, scale),),
    )


def draw(lines: Sequence[str], scale: float) -> Iterator[Shape]:
    """Draw the characters of a map, a tile `scale` pixels wide."""
    signs = [(row, col, sign) for row, line in enumerate(lines) for col, sign in enumerate(line)]
    walls = tuple((row, col) for row, col, sign in signs if sign == "#")
    yield from draw_ground(len(lines), len(lines[0]), walls, scale)
    for row, col, sign in signs:
        if sign == "*":
            yield draw_node(row, col, energy=True)
        elif sign not in "#.":
            yield from draw_core(Core(row, col, ord(sign) - ord("A"), active=True), scale)
