"""Reads and validates the members of an untrusted map file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from cw.errors import UsageError
from cw.games.code_battle.maps.ranges import RANGES, short_text
from cw.games.code_battle.maps.symmetry import Group, RowCol, Symmetry
from cw.games.rules import Json

OwnedTile: TypeAlias = tuple[RowCol, int]
"""The tile of a core, and its owner."""

VERSION: Final = 1
KEYS: Final = (
    "version", "map_id", "players", "rows", "cols", "symmetry", "seed", "wall_density",
    "wall_density_real", "cores_per_player", "walls", "energy_nodes", "cores",
)  # fmt: skip
MOST_NODES: Final = RANGES["energy_nodes"][1]


def check_keys(document: Json) -> None:
    """Raise UsageError unless a document has exactly a map's keys and the right version."""
    if not isinstance(document, dict):
        raise UsageError(f"must be an object, not {short_text(document)}")
    for key in KEYS:
        if key not in document:
            raise UsageError(f"{key} is missing")
    for key in document:
        if key not in KEYS:
            raise UsageError(f"unknown key {short_text(key)}")
    version = document["version"]
    if type(version) is not int or version != VERSION:
        raise UsageError(f"version must be {VERSION}, not {short_text(version)}")


def check_group(document: Json, group: Group) -> None:
    """Raise UsageError unless the member `symmetry` is the group that the map's size requires."""
    expected = json.dumps(group.to_json())
    if not isinstance(document, dict) or document != group.to_json():
        raise UsageError(f"symmetry must be {expected}, not {short_text(document)}")


def read_tiles(name: str, value: Json, symmetry: Symmetry, most: int) -> tuple[RowCol, ...]:
    """Return the listed tiles, sorted; raise UsageError for more than `most` or an invalid one."""
    if not isinstance(value, list) or len(value) > most:
        raise UsageError(f"{name} must be a list of at most {most} tiles")
    tiles = [read_tile(f"{name}[{n}]", tile, symmetry) for n, tile in enumerate(value)]
    return tuple(sorted(tiles))


def read_tile(place: str, value: Json, symmetry: Symmetry) -> RowCol:
    """Return the tile `[row, col]`; raise UsageError, with its place, unless it is on the grid."""
    if not (isinstance(value, list) and len(value) == 2 and all(type(n) is int for n in value)):
        raise UsageError(f"{place} must be [row, col], not {short_text(value)}")
    row, col = value
    if not (0 <= row < symmetry.rows and 0 <= col < symmetry.cols):
        grid = f"{symmetry.rows} x {symmetry.cols}"
        raise UsageError(f"{place} is {short_text(value)}, which is not on the grid of {grid}")
    return row, col


def read_cores(value: Json, symmetry: Symmetry, each: int) -> tuple[OwnedTile, ...]:
    """Return the cores by slot, in each slot in the order of slot 0's cores.

    `each` is the number of cores per slot. Raises UsageError for any other number.
    """
    number = each * symmetry.players
    if not isinstance(value, list) or len(value) != number:
        raise UsageError(f"cores must be a list of {number}")
    cores = [read_core(f"cores[{n}]", core, symmetry) for n, core in enumerate(value)]
    for slot in range(symmetry.players):
        count = sum(owner == slot for _, owner in cores)
        if count != each:
            raise UsageError(f"slot {slot} has {count} cores, not {each}")
    firsts = [symmetry.images(tile) for tile, owner in cores if owner == 0]
    order = {images[slot]: n for n, images in enumerate(firsts) for slot in range(len(images))}
    return tuple(sorted(cores, key=lambda core: (core[1], order.get(core[0], 0))))


def read_core(place: str, value: Json, symmetry: Symmetry) -> OwnedTile:
    """Return the core `{"pos": [row, col], "owner": slot}`; raise UsageError for anything else."""
    if not isinstance(value, dict) or set(value) != {"pos", "owner"}:
        raise UsageError(
            f'{place} must be {{"pos": [row, col], "owner": slot}}, not {short_text(value)}'
        )
    owner = value["owner"]
    if type(owner) is not int or not 0 <= owner < symmetry.players:
        raise UsageError(
            f"owner of {place} is {short_text(owner)}, not a slot of 0..{symmetry.players - 1}"
        )
    return read_tile(f"pos of {place}", value["pos"], symmetry), owner


def check_apart(things: Mapping[str, Sequence[RowCol]]) -> None:
    """Raise UsageError if any two walls, nodes or cores share a tile."""
    occupants: dict[RowCol, str] = {}
    for name, tiles in things.items():
        for tile in tiles:
            if tile in occupants:
                raise UsageError(f"both {occupants[tile]} and {name} at tile {list(tile)}")
            occupants[tile] = name
