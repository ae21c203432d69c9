"""What must hold for every map (document, "Properties"): M1 symmetric, M2 whole, M3 equal ways."""

from __future__ import annotations

from collections.abc import Sequence

from cw.errors import Refused
from cw.games.code_battle.symmetry import Symmetry, Tile
from cw.games.code_battle.ways import UNREACHED, path_lengths, step_table


def prove(
    symmetry: Symmetry,
    walls: Sequence[Tile],
    nodes: Sequence[Tile],
    cores: Sequence[Sequence[Tile]],
) -> None:
    """Raise Refused, naming a tile, unless a map has M1, M2 and M3; `cores` are those of slots."""
    for tiles in (walls, nodes):
        prove_orbits(symmetry, tiles)
    prove_cores(symmetry, cores)
    prove_small_orbits(symmetry, {*walls, *nodes, *(core for own in cores for core in own)})
    prove_ways(symmetry, walls, nodes, cores)


def prove_orbits(symmetry: Symmetry, tiles: Sequence[Tile]) -> None:
    """Raise Refused for the odd tile of the first orbit that is there in part only (M1)."""
    there = set(tiles)
    for tile in tiles:
        orbit = symmetry.images(tile)
        missing = [image for image in orbit if image not in there]
        if missing:
            odd = missing[0] if 2 * len(missing) < len(orbit) else tile
            raise not_symmetric(odd)


def prove_cores(symmetry: Symmetry, cores: Sequence[Sequence[Tile]]) -> None:
    """Raise Refused for a core that is no image of one of slot 0's (M1)."""
    for slot, own in enumerate(cores):
        images = {symmetry.images(core)[slot] for core in cores[0]}
        for core in own:
            if core not in images:
                raise not_symmetric(core)


def prove_small_orbits(symmetry: Symmetry, taken: set[Tile]) -> None:
    """Raise Refused where something stands on a tile that is an image of its own."""
    for number in (symmetry.spread() == 0).nonzero()[0].tolist():
        tile = symmetry.tile(number)
        if tile in taken:
            raise Refused(f"tile {list(tile)} is its own image and must stay open")


def prove_ways(
    symmetry: Symmetry,
    walls: Sequence[Tile],
    nodes: Sequence[Tile],
    cores: Sequence[Sequence[Tile]],
) -> None:
    """Raise Refused unless all open tiles hang together (M2) and all slots have equal ways (M3)."""
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
                raise Refused(f"open tile {place} cannot be reached from core {list(own[0])}")
    for slot, lengths_of_slot in enumerate(ways):
        if lengths_of_slot != ways[0]:
            raise Refused(f"slot {slot} has other ways to the energy nodes than slot 0")


def not_symmetric(tile: Tile) -> Refused:
    """Give the error about a tile that lacks an image."""
    return Refused(f"not symmetric at tile {list(tile)}")
