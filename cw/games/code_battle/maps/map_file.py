"""Maps and their files (rule book, "Maps")."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

import msgspec

from cw.errors import UsageError
from cw.games.code_battle.maps import reading
from cw.games.code_battle.maps.proof import prove
from cw.games.code_battle.maps.ranges import density, short_text, whole
from cw.games.code_battle.maps.symmetry import Group, RowCol, Symmetry, check_players, symmetry_for
from cw.games.rules import Json

LARGEST_FILE: Final = 1 << 20
"""Bytes; a 120 x 120 map with a third of its tiles walls takes less than 64 KiB."""

MAP_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
ROUNDED: Final = 0.0051
"""The tolerance of `wall_density_real`: other programs may write two decimals."""


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
    """Sorted, like the nodes."""
    nodes: tuple[RowCol, ...]
    cores: tuple[tuple[RowCol, int], ...]
    """Each with its owner, sorted by slot; within a slot in the order of slot 0's cores."""

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
    """Return the document of a map's file."""
    return {
        "version": reading.VERSION,
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
    """Return the bytes of a map's file: compact JSON and a line feed."""
    return json.dumps(map_document(game_map), separators=(",", ":")).encode() + b"\n"


def decode_map(data: bytes, name: str) -> Map:
    """Return the map in the bytes of a file; raise UsageError with what is wrong in map `name`."""
    if len(data) > LARGEST_FILE:
        raise UsageError(f"map {name}: more than {LARGEST_FILE} bytes")
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"map {name}: no JSON: {error}") from None
    return read_map(document, name)


def read_map(document: Json, name: str) -> Map:
    """Return the map in the document of a file, after checking M1 to M4.

    Raises UsageError with what is wrong in map `name`. The order of tiles and cores in the document
    has no effect, except for that of slot 0's cores.
    """
    try:
        game_map = read_fields(document)
        check_map(game_map)
    except UsageError as error:
        raise UsageError(f"map {name}: {error}") from None
    return game_map


def read_fields(document: Json) -> Map:
    """Return a map whose properties M1 to M4 have not been checked yet."""
    reading.check_keys(document)
    rows, cols, seed, each = (
        whole(name, document[name]) for name in ("rows", "cols", "seed", "cores_per_player")
    )
    symmetry = symmetry_for(check_players(document["players"]), rows, cols)
    reading.check_group(document["symmetry"], symmetry.group)
    walls = reading.read_tiles("walls", document["walls"], symmetry, rows * cols)
    nodes = reading.read_tiles(
        "energy_nodes", document["energy_nodes"], symmetry, reading.MOST_NODES
    )
    cores = reading.read_cores(document["cores"], symmetry, each)
    reading.check_apart({"wall": walls, "energy node": nodes, "core": [tile for tile, _ in cores]})
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
