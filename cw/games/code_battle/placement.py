"""Steps 1 and 2 of making a map (document, "Maps"): cores and nodes."""

from __future__ import annotations

from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cw.errors import UsageError
from cw.games.code_battle.symmetry import Numbers, Symmetry, Tile

CORE_D2: Final = 26
NODE_TO_CORE_D2: Final = 9
NODE_TO_NODE_D2: Final = 5


def place_cores(symmetry: Symmetry, count: int, rng: Random) -> list[int]:
    """Draw slot 0's cores, one or two tiles; raise UsageError where there is no place for them."""
    cores = [draw(first_places(symmetry), rng)]
    if count == 2:
        places = second_places(symmetry, cores[0])
        if not places.any():
            raise UsageError("map: no place for 2 cores per player, use a larger map")
        cores.append(draw(places, rng))
    return cores


def first_places(symmetry: Symmetry) -> NDArray[np.bool_]:
    """Mark the tiles whose images are far enough from each other for first cores."""
    spread = symmetry.spread()
    far = spread >= CORE_D2
    if symmetry.group.name in ("rot180", "rot90"):
        far &= 9 * spread >= min(symmetry.rows, symmetry.cols) ** 2
    return far


def second_places(symmetry: Symmetry, core: int) -> NDArray[np.bool_]:
    """Mark the tiles for slot 0's second core."""
    to_firsts = to_images(symmetry, core)
    nearest = np.minimum(symmetry.spread(), to_firsts.min(axis=0))
    far = (nearest >= CORE_D2) & (36 * nearest >= min(symmetry.rows, symmetry.cols) ** 2)
    places: NDArray[np.bool_] = far & (to_firsts[0] < to_firsts[1:].min(axis=0))
    return places


def place_nodes(symmetry: Symmetry, cores: list[int], count: int, rng: Random) -> list[int]:
    """Draw one tile of each of `count` orbits of nodes; raise UsageError if there is no room."""
    free = symmetry.spread() >= NODE_TO_NODE_D2
    for core in cores:
        free &= to_images(symmetry, core).min(axis=0) >= NODE_TO_CORE_D2
    nodes: list[int] = []
    while len(nodes) < count:
        if not free.any():
            number = count * symmetry.players
            raise UsageError(
                f"map: no place for {number} energy nodes, use fewer nodes or a larger map"
            )
        nodes.append(draw(free, rng))
        free &= to_images(symmetry, nodes[-1]).min(axis=0) >= NODE_TO_NODE_D2
    return nodes


def to_images(symmetry: Symmetry, number: int) -> Numbers:
    """Return d2 from each image of a tile to every tile, shape (players, rows * cols)."""
    return np.stack([symmetry.distances(image) for image in orbit_of(symmetry, number)])


def orbit_of(symmetry: Symmetry, number: int) -> tuple[Tile, ...]:
    """Return the images of a tile that is known by its number."""
    return symmetry.images(symmetry.tile(number))


def draw(places: NDArray[np.bool_], rng: Random) -> int:
    """Draw one of the marked tiles."""
    marked = np.flatnonzero(places)
    return int(marked[rng.randrange(len(marked))])
