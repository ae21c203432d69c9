"""The checks of a map (rule book, "Maps"): M1 symmetry, M2 connectivity, M3 equal path lengths."""

from __future__ import annotations

from collections.abc import Sequence

from cw.errors import UsageError
from cw.games.code_battle.maps.grid_paths import UNREACHED, path_lengths, step_table
from cw.games.code_battle.maps.symmetry import RowCol, Symmetry


def prove(
    symmetry: Symmetry,
    walls: Sequence[RowCol],
    nodes: Sequence[RowCol],
    cores: Sequence[Sequence[RowCol]],
) -> None:
    """Raise UsageError, naming a tile or a slot, unless M1 to M3 hold; `cores` are by slot."""
    for tiles in (walls, nodes):
        prove_orbits(symmetry, tiles)
    prove_cores(symmetry, cores)
    prove_small_orbits(
        symmetry, {*walls, *nodes, *(core for slot_cores in cores for core in slot_cores)}
    )
    prove_ways(symmetry, walls, nodes, cores)


def prove_orbits(symmetry: Symmetry, tiles: Sequence[RowCol]) -> None:
    """Raise UsageError for the first orbit that is only partly among the tiles (M1).

    The error names the tile that is probably wrong: the missing one if most of the orbit is there,
    otherwise the one that is there.
    """
    present = set(tiles)
    for tile in tiles:
        orbit = symmetry.images(tile)
        missing = [image for image in orbit if image not in present]
        if missing:
            odd = missing[0] if 2 * len(missing) < len(orbit) else tile
            raise not_symmetric(odd)


def prove_cores(symmetry: Symmetry, cores: Sequence[Sequence[RowCol]]) -> None:
    """Raise UsageError for a core that is not the image of one of slot 0's cores (M1).

    All slots have the same number of cores, so every image of slot 0's cores is a core too.
    """
    for slot, slot_cores in enumerate(cores):
        images = {symmetry.images(core)[slot] for core in cores[0]}
        for core in slot_cores:
            if core not in images:
                raise not_symmetric(core)


def prove_small_orbits(symmetry: Symmetry, occupied: set[RowCol]) -> None:
    """Raise UsageError for an occupied tile that is its own image."""
    for number in (symmetry.image_distances() == 0).nonzero()[0].tolist():
        tile = symmetry.tile(number)
        if tile in occupied:
            raise UsageError(f"tile {list(tile)} is its own image and must stay open")


def prove_ways(
    symmetry: Symmetry,
    walls: Sequence[RowCol],
    nodes: Sequence[RowCol],
    cores: Sequence[Sequence[RowCol]],
) -> None:
    """Raise UsageError unless open tiles are connected (M2) and path lengths are equal (M3).

    For M2, one search from a core must reach every open tile. For M3, the sorted lengths of the
    paths from a slot's cores to all nodes must be the same for every slot.
    """
    number = symmetry.number
    blocked = bytearray(symmetry.rows * symmetry.cols)
    for wall in walls:
        blocked[number(wall)] = 1
    steps = step_table(symmetry.rows, symmetry.cols)
    lengths_by_slot: list[list[int]] = []
    for slot_cores in cores:
        lengths = [path_lengths(steps, blocked, [number(core)]) for core in slot_cores]
        lengths_by_slot.append(sorted(each[number(node)] for each in lengths for node in nodes))
        for tile, length in enumerate(lengths[0]):
            if length == UNREACHED and not blocked[tile]:
                place = list(symmetry.tile(tile))
                raise UsageError(
                    f"open tile {place} cannot be reached from core {list(slot_cores[0])}"
                )
    for slot, own_lengths in enumerate(lengths_by_slot):
        if own_lengths != lengths_by_slot[0]:
            raise UsageError(f"slot {slot} has other path lengths to the energy nodes than slot 0")


def not_symmetric(tile: RowCol) -> UsageError:
    """Return the error for a tile at which a map is not symmetric."""
    return UsageError(f"not symmetric at tile {list(tile)}")
