"""What must hold for every map (document, "Properties"): M1 symmetric, M2 whole, M3 equal ways."""

from __future__ import annotations

from collections.abc import Sequence

from cw.errors import UsageError
from cw.games.code_battle.grid_paths import UNREACHED, path_lengths, step_table
from cw.games.code_battle.symmetry import Symmetry, Tile


def prove(
    symmetry: Symmetry,
    walls: Sequence[Tile],
    nodes: Sequence[Tile],
    cores: Sequence[Sequence[Tile]],
) -> None:
    """Raise UsageError, naming a tile, unless a map has M1, M2 and M3; `cores` by slot."""
    for tiles in (walls, nodes):
        prove_orbits(symmetry, tiles)
    prove_cores(symmetry, cores)
    prove_small_orbits(symmetry, {*walls, *nodes, *(core for own in cores for core in own)})
    prove_ways(symmetry, walls, nodes, cores)


def prove_orbits(symmetry: Symmetry, tiles: Sequence[Tile]) -> None:
    """Raise UsageError for the odd tile of the first orbit that is there in part only (M1)."""
    there = set(tiles)
    for tile in tiles:
        orbit = symmetry.images(tile)
        missing = [image for image in orbit if image not in there]
        if missing:
            odd = missing[0] if 2 * len(missing) < len(orbit) else tile
            raise not_symmetric(odd)


def prove_cores(symmetry: Symmetry, cores: Sequence[Sequence[Tile]]) -> None:
    """Raise UsageError for a core that is no image of one of slot 0's (M1)."""
    for slot, own in enumerate(cores):
        images = {symmetry.images(core)[slot] for core in cores[0]}
        for core in own:
            if core not in images:
                raise not_symmetric(core)


def prove_small_orbits(symmetry: Symmetry, taken: set[Tile]) -> None:
    """Raise UsageError where something stands on a tile that is an image of its own."""
    for number in (symmetry.spread() == 0).nonzero()[0].tolist():
        tile = symmetry.tile(number)
        if tile in taken:
            raise UsageError(f"tile {list(tile)} is its own image and must stay open")


def prove_ways(
    symmetry: Symmetry,
    walls: Sequence[Tile],
    nodes: Sequence[Tile],
    cores: Sequence[Sequence[Tile]],
) -> None:
    """Raise UsageError unless all open tiles are connected (M2), and all slots are equal (M3)."""
    number = symmetry.number
    blocked = bytearray(symmetry.rows * symmetry.cols)
    for wall in walls:
        blocked[number(wall)] = 1
    steps = step_table(symmetry.rows, symmetry.cols)
    ways: list[list[int]] = []
    for own in cores:
        lengths = [path_lengths(steps, blocked, [number(core)]) for core in own]
        ways.append(sorted(each[number(node)] for each in lengths for node in nodes))
        for tile, length in enumerate(lengths[0]):
            if length == UNREACHED and not blocked[tile]:
                place = list(symmetry.tile(tile))
                raise UsageError(f"open tile {place} cannot be reached from core {list(own[0])}")
    for slot, lengths_of_slot in enumerate(ways):
        if lengths_of_slot != ways[0]:
            raise UsageError(f"slot {slot} has other ways to the energy nodes than slot 0")


def not_symmetric(tile: Tile) -> UsageError:
    """Return the error about a tile that lacks an image."""
    return UsageError(f"not symmetric at tile {list(tile)}")
