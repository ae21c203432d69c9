"""Start squares far from each other, for more players than a board has corners."""

from __future__ import annotations

import numpy as np

from cw.games.paint.state import Square


def farthest_first(
    height: int, width: int, starts: tuple[Square, ...], players: int
) -> tuple[Square, ...]:
    """Return the squares of all players, each the farthest from all previous ones.

    This is Gonzalez's farthest-first traversal, starting with `starts`; ties go to the first square
    in reading order, as in argmax.
    """
    squares = list(starts)
    rows, cols = np.mgrid[:height, :width]
    nearest = np.full((height, width), height**2 + width**2)
    for row, col in squares:
        nearest = np.minimum(nearest, (rows - row) ** 2 + (cols - col) ** 2)
    while len(squares) < players:
        row, col = (int(index) for index in np.unravel_index(nearest.argmax(), nearest.shape))
        squares.append((row, col))
        nearest = np.minimum(nearest, (rows - row) ** 2 + (cols - col) ** 2)
    return tuple(squares)
