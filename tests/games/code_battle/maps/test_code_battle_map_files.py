"""Files of maps of Code Battle: their form, and what is refused with a sentence."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from cw.errors import UsageError
from cw.games.code_battle.maps.generation import make_map
from cw.games.code_battle.maps.map_file import (
    KEYS,
    Map,
    decode_map,
    encode_map,
    map_document,
    read_map,
)
from tests.games.code_battle.maps.sizes import SIZES


def change(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of a document with one value replaced."""
    changed = copy.deepcopy(document)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


class TestFiles:
    def test_the_document_has_the_keys_of_the_format_in_order(self, arena_map: Map) -> None:
        document = map_document(arena_map)
        assert list(document) == [
            "version", "map_id", "players", "rows", "cols", "symmetry", "seed", "wall_density",
            "wall_density_real", "cores_per_player", "walls", "energy_nodes", "cores",
        ]  # fmt: skip
        assert document["symmetry"] == {"group": "half_shift"}
        assert document["cores"][0] == {"pos": list(arena_map.cores[0][0]), "owner": 0}
        assert [core["owner"] for core in document["cores"]] == [0, 1, 2, 3]
        shifted = map_document(make_map("m", 6, 1))
        assert shifted["symmetry"] == {"group": "shift", "shift": [20, 30]}

    @pytest.mark.parametrize(("players", "rows", "cols"), SIZES)
    def test_a_file_that_is_read_is_the_map_that_was_written(
        self, players: int, rows: int, cols: int
    ) -> None:
        arena_map = make_map("m", players, 3, rows=rows, cols=cols, cores_per_player=2)
        data = encode_map(arena_map)
        assert decode_map(data, "m") == arena_map
        assert data == json.dumps(json.loads(data), separators=(",", ":")).encode() + b"\n"

    def test_the_order_of_tiles_and_cores_in_a_file_means_nothing(self) -> None:
        arena_map = make_map("m", 3, 3, rows=30, cols=30, cores_per_player=2)
        document = map_document(arena_map)
        for key in ("walls", "energy_nodes"):
            document[key].reverse()
        first = [core for core in document["cores"] if core["owner"] == 0]
        others = [core for core in document["cores"] if core["owner"]]
        document["cores"] = others[::-1] + first
        assert read_map(document, "m") == arena_map

    @pytest.mark.parametrize(
        ("path", "value", "error"),
        [
            (("version",), 2, "version must be 1, not 2"),
            (("version",), True, "version must be 1, not True"),
            (("map_id",), "a/b", "map_id must be 1 to 64 letters, digits or the characters _ -,"),
            (("map_id",), 7, "map_id must be"),
            (("players",), 5, "players: 5 is not one of 2, 3, 4, 6"),
            (("players",), [4], "players: [4] is not one of 2, 3, 4, 6"),
            (("players",), 2, 'symmetry must be {"group": "rot180"}, not'),
            (("rows",), 10**30, "rows: a huge number is not within 30..120"),
            (("rows",), 30.0, "rows: 30.0 is not within 30..120"),
            (("cols",), 45, "4 players need rows == cols, or rows and cols both even"),
            (("cols",), 30, 'symmetry must be {"group": "rot90"}, not'),
            (("symmetry",), {"group": "mirror"}, 'symmetry must be {"group": "half_shift"}'),
            (("symmetry",), None, 'symmetry must be {"group": "half_shift"}, not None'),
            (("seed",), -1, "seed: -1 is not within"),
            (("seed",), 1.5, "seed: 1.5 is not within"),
            (("wall_density",), 0.9, "wall_density: 0.9 is not within 0.05..0.30"),
            (("wall_density",), "0.15", "wall_density: '0.15' is not within 0.05..0.30"),
            (("wall_density",), 0.25, "walls, but wall_density 0.25 asks for 330"),
            (("wall_density_real",), 0.25, "wall_density_real must be 0.1"),
            (("wall_density_real",), None, "wall_density_real must be 0.1"),
            (("cores_per_player",), 2, "cores must be a list of 8"),
            (("cores_per_player",), 10**9, "cores_per_player: 1000000000 is not within 1..2"),
            (("walls",), None, "walls must be a list of at most 1320 tiles"),
            (("walls",), [[0, 0]] * 1321, "walls must be a list of at most 1320 tiles"),
            (("walls", 3), [1, 2, 3], "walls[3] must be [row, col], not [1, 2, 3]"),
            (("walls", 3), [1, True], "walls[3] must be [row, col], not [1, True]"),
            (("walls", 3), "ab", "walls[3] must be [row, col], not 'ab'"),
            (("walls", 3), [30, 0], "walls[3] is [30, 0], which is not on the grid of 30 x 44"),
            (("walls", 3), [0, -1], "walls[3] is [0, -1], which is not on the grid of 30 x 44"),
            (("energy_nodes",), [[0, 0]] * 51, "energy_nodes must be a list of at most 50 tiles"),
            (("energy_nodes", 0), {}, "energy_nodes[0] must be [row, col], not {}"),
            (("cores",), {}, "cores must be a list of 4"),
            (("cores", 0), [1, 2], 'cores[0] must be {"pos": [row, col], "owner": slot}'),
            (("cores", 0, "owner"), 4, "owner of cores[0] is 4, not a slot of 0..3"),
            (("cores", 0, "owner"), False, "owner of cores[0] is False, not a slot of 0..3"),
            (("cores", 0, "owner"), 1, "slot 0 has 0 cores, not 1"),
            (("cores", 1, "pos"), [99, 0], "pos of cores[1] is [99, 0], which is not on the grid"),
            (("extra",), 1, "unknown key 'extra'"),
        ],
    )
    def test_hostile_values(
        self, arena_map: Map, path: tuple[Any, ...], value: Any, error: str
    ) -> None:
        with pytest.raises(UsageError) as refused:
            read_map(change(map_document(arena_map), path, value), "m")
        assert str(refused.value).startswith("map m: ")
        assert error in str(refused.value)
        assert len(str(refused.value)) < 300

    @pytest.mark.parametrize("key", KEYS)
    def test_a_missing_key(self, arena_map: Map, key: str) -> None:
        document = map_document(arena_map)
        del document[key]
        with pytest.raises(UsageError, match=f"^map m: {key} is missing$"):
            read_map(document, "m")

    @pytest.mark.parametrize("document", [None, [], 5, "map", [[[]]]])
    def test_a_document_that_is_no_object(self, document: Any) -> None:
        with pytest.raises(UsageError, match=r"^map m: must be an object"):
            read_map(document, "m")

    @pytest.mark.parametrize(
        "data",
        [b"", b"{", b"\xff\xfe", b"nonsense", b"[" * 100_000, b'{"version": NaN}', b"{}" * 2],
    )
    def test_bytes_that_are_no_json(self, data: bytes) -> None:
        with pytest.raises(UsageError, match=r"^map m: no JSON"):
            decode_map(data, "m")

    def test_a_file_that_is_too_large(self, arena_map: Map) -> None:
        with pytest.raises(UsageError, match=r"^map m: more than 1048576 bytes$"):
            decode_map(encode_map(arena_map) + b" " * (1 << 20), "m")
