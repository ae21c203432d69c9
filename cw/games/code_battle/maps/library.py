"""The maps included with the game, and map files from other sources."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec

from cw.errors import UsageError
from cw.games.code_battle.maps.map_file import LARGEST_FILE, Map, decode_map, read_fields
from cw.games.code_battle.maps.symmetry import PLAYERS
from cw.games.rules import Json

LIBRARY: Final = files("cw.games.code_battle.maps") / "map_library"


@cache
def maps_for(players: int) -> tuple[Map, ...]:
    """Return the library's maps for a number of players, by id; only the tests validate them."""
    entries = {entry.name: entry for entry in LIBRARY.iterdir()}
    return tuple(
        read_fields(msgspec.json.decode(entries[name].read_bytes()))
        for name in sorted(entries)
        if name.startswith(f"m{players}_")
    )


def find_map(name: Json) -> Map:
    """Return the library map with this id, or the map in a file if the path ends in `.json`.

    Raises UsageError if there is none, or if the file is not a valid map.
    """
    if not isinstance(name, str) or not name:
        raise UsageError(f"map: {name!r} is neither the id of a map nor the path of a map file")
    if is_file(name):
        return open_map(Path(name))
    for players in PLAYERS:
        for game_map in maps_for(players):
            if game_map.map_id == name:
                return game_map
    raise UsageError(
        f"map: the library has no {name!r}; its maps are named m2_001, m2_002, ..., m3_001, ..."
    )


def is_file(name: Json) -> bool:
    """Return whether a map is given as a file name instead of a library id."""
    return isinstance(name, str) and name.endswith(".json")


def open_map(path: Path) -> Map:
    """Return the validated map in a file; raise UsageError if it cannot be read."""
    name = path.name.removesuffix(".json")
    try:
        with path.open("rb") as stream:
            return decode_map(stream.read(LARGEST_FILE + 1), name)
    except OSError as error:
        raise UsageError(f"map {name}: {error.strerror}") from None
