"""The Code Battle map maker: series of maps, the curated library, and images of maps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from random import Random
from typing import Any, Final

from cw.drawing import DARK, MARGIN, STILL, Part, Shape, Sheet, fitting
from cw.errors import UsageError
from cw.games.code_battle.maps.generation import make_map, make_maps, map_ids
from cw.games.code_battle.maps.library import maps_for
from cw.games.code_battle.maps.map_file import Map, decode_map, encode_map
from cw.games.code_battle.picture import Core, draw_core, draw_ground, draw_node
from cw.games.code_battle.rules import CodeBattle
from cw.games.code_battle.rules.start import MATCH_OPTIONS, on_map
from cw.games.code_battle.rules.state import Config
from cw.games.code_battle.rules.turn import view_of
from cw.games.code_battle.strategies.simple import Gatherer
from cw.games.rules import Json

EACH: Final = 50
"""The number of library maps per number of players."""

DEFAULT_MAPS: Final = 10
"""How many of these maps use the default options; they come first."""

SIDES: Final = range(30, 81)
"""The range of rows and columns of all other maps."""

TEST_TURNS: Final = 150
"""The number of turns in a play-test."""


def library(players: int, seed: int) -> Iterator[Map]:
    """Yield the library's maps for a number of players; a seed always gives the same maps."""
    rng = Random(f"{seed} {players}")
    for number, map_id in enumerate(map_ids(players, EACH)):
        yield curated(map_id, players, rng, default=number < DEFAULT_MAPS)


def curated(map_id: str, players: int, rng: Random, *, default: bool) -> Map:
    """Return the first playable map made with random options and seeds."""
    while True:
        options = {} if default else draw_options(rng)
        try:
            candidate = make_map(map_id, players, rng.randrange(2**31), **options)
        except UsageError:
            continue
        if is_playable(candidate):
            return candidate


def draw_options(rng: Random) -> dict[str, Any]:
    """Return random options for the map maker; some combinations produce no map."""
    return {
        "rows": rng.choice(SIDES),
        "cols": rng.choice(SIDES),
        "wall_density": round(rng.uniform(0.05, 0.30), 2),
        "energy_nodes": rng.randint(8, 50),
        "cores_per_player": rng.randint(1, 2),
    }


def is_playable(candidate: Map) -> bool:
    """Return whether gatherers in all slots collect energy within TEST_TURNS turns.

    Raises IllegalAction if one of them makes an illegal move.
    """
    game = CodeBattle()
    settings = {name: default for name, (default, _, _) in MATCH_OPTIONS.items()}
    state = on_map(
        candidate, Config(rows=candidate.rows, cols=candidate.cols, **settings), seed=candidate.seed
    )
    seats = {slot: Gatherer(slot, Random(slot)) for slot in game.players(state)}
    while state.turn < TEST_TURNS and game.outcome(state) is None:
        actions = {
            slot: seats[int(slot)].act(view_of(state, int(slot))) for slot in game.to_move(state)
        }
        for slot, action in actions.items():
            game.check(state, slot, action)
        state = game.step(state, actions)
    return all(stats.collected for stats in state.stats)


def map_sheet(lines: Sequence[str], title: str) -> Sheet:
    """Render a map: `#` is a wall, `*` an energy node, `A`, `B` and so on are the starts."""
    cols, rows = len(lines[0]), len(lines)
    scale = fitting((cols, rows), *STILL)
    return Sheet(
        width=ceil(cols * scale) + 2 * MARGIN,
        height=ceil(rows * scale) + 2 * MARGIN,
        ground=DARK.ground,
        title=title,
        parts=(Part(tuple(draw_map(lines, scale)), MARGIN, MARGIN, scale),),
    )


def draw_map(lines: Sequence[str], scale: float) -> Iterator[Shape]:
    """Render the characters of a map; a tile is `scale` pixels wide."""
    signs = [(row, col, sign) for row, line in enumerate(lines) for col, sign in enumerate(line)]
    walls = tuple((row, col) for row, col, sign in signs if sign == "#")
    yield from draw_ground(len(lines), len(lines[0]), walls, scale)
    for row, col, sign in signs:
        if sign == "*":
            yield draw_node(row, col, energy=True)
        elif sign not in "#.":
            yield from draw_core(Core(row, col, ord(sign) - ord("A"), active=True), scale)


OWNERS = "ABCDEF"


class CodeBattleMaps:
    """Makes maps for 2, 3, 4 or 6 players, with walls, energy nodes and cores."""

    def ids(self, players: int, number: int) -> list[str]:
        """Return the ids of a series of maps: m4_001, m4_002 and so on for 4 players."""
        return map_ids(players, number)

    def make(self, players: int, number: int, seed: int, **options: Json) -> Iterator[Map]:
        """Yield a series of maps; the options are those of maps.generation.DEFAULTS."""
        return make_maps(players, number, seed, **options)

    def library(self, players: int, seed: int) -> Iterator[Map]:
        """Yield the library's maps for a number of players, generated and curated from a seed."""
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
        """Return the options and statistics of a map."""
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
        """Return an image of a map, drawn like the board of a match."""
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


__all__ = ["CodeBattleMaps"]
