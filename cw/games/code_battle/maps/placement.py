"""Steps 1 and 2 of making a map: cores and nodes.

Tiles are numbered row * cols + col; d2 is the squared distance on the torus.
"""

from __future__ import annotations

from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cw.errors import UsageError
from cw.games.code_battle.maps.symmetry import Numbers, RowCol, Symmetry

CORE_D2: Final = 26
"""The minimum d2 between two cores."""

NODE_TO_CORE_D2: Final = 9
"""The minimum d2 between a node and a core."""

NODE_TO_NODE_D2: Final = 5
"""The minimum d2 between two nodes."""


def place_cores(symmetry: Symmetry, count: int, rng: Random) -> list[int]:
    """Return one or two random cores for slot 0; raise UsageError if there is no room."""
    cores = [draw(first_places(symmetry), rng)]
    if count == 2:
        places = second_places(symmetry, cores[0])
        if not places.any():
            raise UsageError("map: no place for 2 cores per player, use a larger map")
        cores.append(draw(places, rng))
    return cores


def first_places(symmetry: Symmetry) -> NDArray[np.bool_]:
    """Return for every tile whether its images are far enough apart to be the first cores.

    Under a rotation they must be at least a third of the shorter side apart; under translations all
    tiles are equally far from their images.
    """
    nearest = symmetry.image_distances()
    far = nearest >= CORE_D2
    if symmetry.group.name in ("rot180", "rot90"):
        far &= 9 * nearest >= min(symmetry.rows, symmetry.cols) ** 2
    return far


def second_places(symmetry: Symmetry, core: int) -> NDArray[np.bool_]:
    """Return for every tile whether it may be slot 0's second core, given its first.

    It must be at least a sixth of the shorter side from all other cores, and nearer to slot 0's
    first core than to that of any other slot.
    """
    to_firsts = to_images(symmetry, core)
    nearest = np.minimum(symmetry.image_distances(), to_firsts.min(axis=0))
    far = (nearest >= CORE_D2) & (36 * nearest >= min(symmetry.rows, symmetry.cols) ** 2)
    places: NDArray[np.bool_] = far & (to_firsts[0] < to_firsts[1:].min(axis=0))
    return places


def place_nodes(symmetry: Symmetry, cores: list[int], count: int, rng: Random) -> list[int]:
    """Return one tile from each of `count` random node orbits; raise UsageError without room."""
    free = symmetry.image_distances() >= NODE_TO_NODE_D2
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
    """Return d2 from each image of a tile (axis 0, by slot) to every tile (axis 1)."""
    return np.stack([symmetry.distances(image) for image in orbit_of(symmetry, number)])


def orbit_of(symmetry: Symmetry, number: int) -> tuple[RowCol, ...]:
    """Return the images of a numbered tile."""
    return symmetry.images(symmetry.tile(number))


def draw(places: NDArray[np.bool_], rng: Random) -> int:
    """Return a random tile for which `places` is true."""
    candidates = np.flatnonzero(places)
    return int(candidates[rng.randrange(len(candidates))])
