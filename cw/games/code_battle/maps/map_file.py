"""Maps, and reading, writing and validating map files (rule book, "Maps")."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from cw.errors import UsageError
from cw.games.code_battle.maps.symmetry import (
    RANGES,
    UNREACHED,
    Group,
    RowCol,
    Symmetry,
    check_players,
    density,
    path_lengths,
    short_text,
    step_table,
    symmetry_for,
    whole,
)
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
    """Raise UsageError unless the JSON has exactly a map's keys and the right version."""
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
    """Return the tile `[row, col]`; raise UsageError, naming `place`, unless it is on the grid."""
    if not (isinstance(value, list) and len(value) == 2 and all(type(n) is int for n in value)):
        raise UsageError(f"{place} must be [row, col], not {short_text(value)}")
    row, col = value
    if not (0 <= row < symmetry.rows and 0 <= col < symmetry.cols):
        grid = f"{symmetry.rows} x {symmetry.cols}"
        raise UsageError(f"{place} is {short_text(value)}, which is not on the grid of {grid}")
    return row, col


def read_cores(value: Json, symmetry: Symmetry, each: int) -> tuple[OwnedTile, ...]:
    """Return the cores sorted by slot, within each slot in the order of slot 0's cores.

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

    The error names the tile that is probably wrong: the missing one if most of the orbit is
    present, otherwise the present one.
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


LARGEST_FILE: Final = 1 << 20
"""The largest file in bytes; a 120 x 120 map with a third of its tiles walls is below 64 KiB."""

MAP_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
ROUNDED: Final = 0.0051
"""The tolerance of `wall_density_real`: other programs may write only two decimals."""


@dataclass(frozen=True, slots=True)
class Map:
    """A symmetric torus with walls, energy nodes and cores."""

    map_id: str
    players: int
    rows: int
    cols: int
    group: Group
    seed: int
    wall_density: float
    """The requested density."""
    wall_density_real: float
    """The share of all tiles that are walls, to four decimals."""
    cores_per_player: int
    walls: tuple[RowCol, ...]
    """The walls, sorted like the nodes."""
    nodes: tuple[RowCol, ...]
    cores: tuple[tuple[RowCol, int], ...]
    """The cores with their owners, sorted by slot, then in the order of slot 0's cores."""

    @property
    def symmetry(self) -> Symmetry:
        """The symmetries that map the slots onto each other."""
        return Symmetry(self.players, self.rows, self.cols, self.group)


def wall_target(rows: int, cols: int, wall_density: float) -> int:
    """Return the number of walls required by a density."""
    return round(rows * cols * wall_density)


def check_map(game_map: Map) -> None:
    """Raise UsageError unless the map satisfies M1 to M4 (rule book, "Maps")."""
    cores = [
        [tile for tile, owner in game_map.cores if owner == slot]
        for slot in range(game_map.players)
    ]
    prove(game_map.symmetry, game_map.walls, game_map.nodes, cores)
    target = wall_target(game_map.rows, game_map.cols, game_map.wall_density)
    if abs(len(game_map.walls) - target) >= game_map.players:
        raise UsageError(
            f"{len(game_map.walls)} walls,"
            f" but wall_density {game_map.wall_density} asks for {target}"
        )


def map_document(game_map: Map) -> dict[str, Json]:
    """Return the content of a map file as JSON."""
    return {
        "version": VERSION,
        "map_id": game_map.map_id,
        "players": game_map.players,
        "rows": game_map.rows,
        "cols": game_map.cols,
        "symmetry": game_map.group.to_json(),
        "seed": game_map.seed,
        "wall_density": game_map.wall_density,
        "wall_density_real": game_map.wall_density_real,
        "cores_per_player": game_map.cores_per_player,
        "walls": [list(tile) for tile in game_map.walls],
        "energy_nodes": [list(tile) for tile in game_map.nodes],
        "cores": [{"pos": list(tile), "owner": owner} for tile, owner in game_map.cores],
    }


def encode_map(game_map: Map) -> bytes:
    """Return the content of a map file as bytes: compact JSON and a line feed."""
    return json.dumps(map_document(game_map), separators=(",", ":")).encode() + b"\n"


def decode_map(data: bytes, name: str) -> Map:
    """Return the map in the bytes of a file; raise UsageError saying what is wrong in `name`."""
    if len(data) > LARGEST_FILE:
        raise UsageError(f"map {name}: more than {LARGEST_FILE} bytes")
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"map {name}: no JSON: {error}") from None
    return read_map(document, name)


def read_map(document: Json, name: str) -> Map:
    """Return the map in the JSON of a file, after checking M1 to M4.

    Raises UsageError describing what is wrong in map `name`. The order of tiles and cores in the
    JSON has no effect, except for that of slot 0's cores.
    """
    try:
        game_map = read_fields(document)
        check_map(game_map)
    except UsageError as error:
        raise UsageError(f"map {name}: {error}") from None
    return game_map


def read_fields(document: Json) -> Map:
    """Return a map that has not yet been checked for M1 to M4."""
    check_keys(document)
    rows, cols, seed, each = (
        whole(name, document[name]) for name in ("rows", "cols", "seed", "cores_per_player")
    )
    symmetry = symmetry_for(check_players(document["players"]), rows, cols)
    check_group(document["symmetry"], symmetry.group)
    walls = read_tiles("walls", document["walls"], symmetry, rows * cols)
    nodes = read_tiles("energy_nodes", document["energy_nodes"], symmetry, MOST_NODES)
    cores = read_cores(document["cores"], symmetry, each)
    check_apart({"wall": walls, "energy node": nodes, "core": [tile for tile, _ in cores]})
    return Map(
        map_id=read_map_id(document["map_id"]),
        players=symmetry.players,
        rows=rows,
        cols=cols,
        group=symmetry.group,
        seed=seed,
        wall_density=density(document["wall_density"]),
        wall_density_real=read_real(document["wall_density_real"], len(walls) / (rows * cols)),
        cores_per_player=each,
        walls=walls,
        nodes=nodes,
        cores=cores,
    )


def read_map_id(value: Json) -> str:
    """Return a map's id; raise UsageError unless it can be part of a file name."""
    if isinstance(value, str) and MAP_ID.fullmatch(value):
        return value
    raise UsageError(
        f"map_id must be 1 to 64 letters, digits or the characters _ -, not {short_text(value)}"
    )


def read_real(value: Json, share: float) -> float:
    """Return `wall_density_real`; raise UsageError unless it equals `share` after rounding."""
    if type(value) in (int, float) and abs(value - share) <= ROUNDED:
        return float(value)
    raise UsageError(f"wall_density_real must be {share:.4f}, not {short_text(value)}")
