"""Neighbours on the torus as tables, and shortest path lengths, for the map maker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np

Table: TypeAlias = tuple[tuple[int, ...], ...]
"""For each tile (row * cols + col), a tuple of other tiles."""

RING: Final = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
"""The offsets of the 8 neighbours, clockwise: N, NE, E and so on."""

UNREACHED: Final = -1
"""The path length of an unreachable tile."""


@lru_cache(maxsize=8)
def ring_table(rows: int, cols: int) -> Table:
    """Return the 8 neighbours of every tile, in the order of RING."""
    row, col = np.divmod(np.arange(rows * cols), cols)
    columns = [(row + down) % rows * cols + (col + right) % cols for down, right in RING]
    return tuple(map(tuple, np.stack(columns, axis=1).tolist()))


@lru_cache(maxsize=8)
def step_table(rows: int, cols: int) -> Table:
    """Return the 4 neighbours of every tile, in the order north, east, south, west."""
    return tuple(ring[::2] for ring in ring_table(rows, cols))


def path_lengths(steps: Table, walls: Sequence[int], starts: Iterable[int]) -> list[int]:
    """Return the steps to every tile from the nearest start, or UNREACHED if there is no path.

    A breadth-first search around walls; `walls` holds 1 for every wall.
    """
    lengths = [UNREACHED] * len(steps)
    queue = list(starts)
    for start in queue:
        lengths[start] = 0
    for tile in queue:
        further = lengths[tile] + 1
        for neighbour in steps[tile]:
            if lengths[neighbour] < 0 and not walls[neighbour]:
                lengths[neighbour] = further
                queue.append(neighbour)
    return lengths
