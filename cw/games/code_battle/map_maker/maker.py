"""The map maker of Code Battle, behind the interface shared by all games' map makers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cw.drawing.shapes import Sheet
from cw.games.code_battle.map_maker.curation import library
from cw.games.code_battle.map_maker.picture import map_sheet
from cw.games.code_battle.maps.generate import make_maps, map_ids
from cw.games.code_battle.maps.library import maps_for
from cw.games.code_battle.maps.map_file import Map, decode_map, encode_map
from cw.games.rules import Json

OWNERS = "ABCDEF"


class CodeBattleMaps:
    """Maps of 2, 3, 4 or 6 players with walls, energy nodes and cores."""

    def ids(self, players: int, number: int) -> list[str]:
        """Return the ids of a series of maps: m4_001, m4_002 and so on for 4 players."""
        return map_ids(players, number)

    def make(self, players: int, number: int, seed: int, **options: Json) -> Iterator[Map]:
        """Yield a series of maps; the options are those of maps.generate.DEFAULTS."""
        return make_maps(players, number, seed, **options)

    def library(self, players: int, seed: int) -> Iterator[Map]:
        """Yield the library's maps for a number of players, made from a seed (curation)."""
        return library(players, seed)

    def stored(self, players: int) -> Sequence[Map]:
        """Return the library's maps for a number of players, by id."""
        return maps_for(players)

    def encode(self, game_map: Map) -> bytes:
        """Return the bytes of a map's file."""
        return encode_map(game_map)

    def decode(self, data: bytes, name: str) -> Map:
        """Return the map in a file; raise UsageError with what is wrong."""
        return decode_map(data, name)

    def facts(self, game_map: Map) -> dict[str, Json]:
        """Return the options and measures of a map."""
        return {
            "map_id": game_map.map_id,
            "players": game_map.players,
            "rows": game_map.rows,
            "cols": game_map.cols,
            "symmetry": game_map.group.name,
            "seed": game_map.seed,
            "walls": len(game_map.walls),
            "wall_density": game_map.wall_density,
            "wall_density_real": game_map.wall_density_real,
            "energy_nodes": len(game_map.nodes),
            "cores": len(game_map.cores),
        }

    def sheet(self, game_map: Map) -> Sheet:
        """Return the picture of a map, drawn like the board of a match."""
        return map_sheet(self.picture(game_map), game_map.map_id)

    def picture(self, game_map: Map) -> list[str]:
        """Return the rows of a map as text: `#` wall, `*` node, `A` core of slot 0, `.` open."""
        signs = [["."] * game_map.cols for _ in range(game_map.rows)]
        for row, col in game_map.walls:
            signs[row][col] = "#"
        for row, col in game_map.nodes:
            signs[row][col] = "*"
        for (row, col), owner in game_map.cores:
            signs[row][col] = OWNERS[owner]
        return ["".join(line) for line in signs]
