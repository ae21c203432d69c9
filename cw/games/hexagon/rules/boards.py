"""The start of a battle (rule book, "Start")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Final

from cw.errors import UsageError, short
from cw.games.hexagon.rules.grid import LARGEST, SMALLEST, STONE, Cell, Grid, grid
from cw.games.hexagon.rules.state import State
from cw.games.rules import Json, refuse_unknown_options

OPTIONS: Final = ("size", "stones", "cells")
MOST_DRAWS: Final = 1000
"""The number of random boards to try for a playable one."""


def start(players: Json, seed: int, options: Mapping[str, Json]) -> State:
    """Return the start of a battle; raise UsageError if an option is unknown or invalid."""
    if players != 2 or isinstance(players, bool):
        raise UsageError(f"Hexagon is for 2 players, got {short(players)}")
    refuse_unknown_options(options, OPTIONS)
    if "cells" in options:
        if len(options) > 1:
            raise UsageError("cells excludes size, stones and seed")
        return from_cells(options["cells"])
    size = number("size", options.get("size", 5), SMALLEST, LARGEST, "")
    empty = 3 * size * (size - 1) - 5
    stones = options.get("stones", usual_stones(empty))
    number("stones", stones, 0, empty // 3, f" for size {size}")
    if type(seed) is not int or seed < 0:
        raise UsageError(f"seed must be a whole number of 0 or more, got {short(seed)}")
    return place_stones(size, stones, Random(seed))


def number(name: str, value: Json, low: int, high: int, why: str) -> int:
    """Return the value if it is a whole number from low to high, otherwise raise UsageError."""
    if type(value) is int and low <= value <= high:
        return value
    raise UsageError(f"{name} must be a whole number from {low} to {high}{why}, got {short(value)}")


def usual_stones(empty: int) -> int:
    """Return the default number of stones: the least even number >= a tenth of the empty cells."""
    return empty // 10 + empty // 10 % 2


def place_stones(size: int, stones: int, rng: Random) -> State:
    """Return the start on a random playable board; raise UsageError if none is found."""
    layout = grid(size)
    corners = {cell for cell, _ in layout.corners}
    empty = [cell for cell in layout.cells if cell not in corners]
    for _ in range(MOST_DRAWS):
        drawn = rng.sample(empty, stones)
        if is_playable(layout, drawn):
            return State(size, board(layout, drawn), (1, 1), (3, 3), 1, None, None)
    raise UsageError(
        f"no playable board of size {size} with {stones} stones in {MOST_DRAWS} draws:"
        " ask for fewer stones"
    )


def is_playable(layout: Grid, stones: Iterable[Cell]) -> bool:
    """Return whether the cells without a stone are connected."""
    unreached = set(layout.cells) - set(stones)
    queue = [unreached.pop()]
    while queue:
        near = unreached.intersection(layout.near[queue.pop()])
        unreached -= near
        queue += near
    return not unreached


def board(layout: Grid, stones: Iterable[Cell]) -> tuple[tuple[int, ...], ...]:
    """Return the cells of a start board as rows."""
    cells = [[STONE] * layout.side for _ in range(layout.side)]
    for row, col in layout.cells:
        cells[row][col] = 0
    for (row, col), color in layout.corners:
        cells[row][col] = color
    for row, col in stones:
        cells[row][col] = STONE
    return tuple(map(tuple, cells))


def from_cells(cells: Json) -> State:
    """Return the start on an explicit board; raise UsageError if `cells` is not a board.

    All chips count as placed, and no jump as spent.
    """
    side = len(cells) if isinstance(cells, list) else 0
    if side not in range(3, 2 * LARGEST, 2):
        raise UsageError(
            f"cells must be a list of rows, an odd number from 3 to {2 * LARGEST - 1},"
            f" got {described(cells, 'rows')}"
        )
    check_cells(cells, (side + 1) // 2)
    rows = tuple(map(tuple, cells))
    chips = tuple(sum(row.count(color) for row in rows) for color in (1, 2))
    if not all(chips):
        raise UsageError("cells must hold at least one chip of each colour")
    first, second = chips
    return State((side + 1) // 2, rows, (first // 2, second // 2), (first, second), 1, None, None)


def described(value: Json, items: str) -> str:
    """Return the length of a list for an error message, or the value if it is not a list."""
    return f"{len(value)} {items}" if isinstance(value, list) else short(value)


def check_cells(cells: Json, size: int) -> None:
    """Raise UsageError unless `cells` is a board of this size, with -1 in all padding."""
    side = 2 * size - 1
    expected = f"cells must be {side} rows of {side} for size {size}"
    if not isinstance(cells, list) or len(cells) != side:
        raise UsageError(f"{expected}, got {described(cells, 'rows')}")
    for i, row in enumerate(cells):
        if not isinstance(row, list) or len(row) != side:
            raise UsageError(f"{expected}, got {described(row, 'values')} in row {i}")
    inside = set(grid(size).cells)
    for i, row in enumerate(cells):
        for j, value in enumerate(row):
            if type(value) is not int or not -1 <= value <= 2:
                raise UsageError(f"cells[{i}][{j}] must be -1, 0, 1 or 2, got {short(value)}")
            if (i, j) not in inside and value != STONE:
                raise UsageError(
                    f"cells[{i}][{j}] lies outside the hexagon and must be -1, got {value}"
                )
