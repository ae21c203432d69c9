"""Maps, drawn as Code Battle draws them, from the lines of signs that a map maker gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from cw.pictures.games.code_battle import Core, draw_core, draw_ground, draw_node
from cw.pictures.palette import DARK
from cw.pictures.scenes import fitting
from cw.pictures.shapes import Part, Shape, Sheet
from cw.pictures.sheets import MARGIN, STILL


def map_sheet(lines: Sequence[str], title: str) -> Sheet:
    """Draw a map: `#` a wall, `*` a place of energy, `A`, `B` and so on the starts."""
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
    """Draw the signs of a map, a tile `scale` pixels wide."""
    signs = [(row, col, sign) for row, line in enumerate(lines) for col, sign in enumerate(line)]
    walls = tuple((row, col) for row, col, sign in signs if sign == "#")
    yield from draw_ground(len(lines), len(lines[0]), walls, scale)
    for row, col, sign in signs:
        if sign == "*":
            yield draw_node(row, col, energy=True)
        elif sign not in "#.":
            yield from draw_core(Core(row, col, ord(sign) - ord("A"), active=True), scale)
