"""The maps that come with the game, and how a match finds its map."""

from __future__ import annotations

from pathlib import Path

import pytest

from cw.errors import UsageError
from cw.games.code_battle.map_maker import is_playable
from cw.games.code_battle.maps.generation import DEFAULTS, make_map
from cw.games.code_battle.maps.library import LIBRARY, maps_for
from cw.games.code_battle.maps.map_file import Map, decode_map, encode_map
from tests.effort import first_is_fast
from tests.games.code_battle.positions import GAME

PLAYERS = (2, 3, 4, 6)


@pytest.mark.parametrize("players", first_is_fast(PLAYERS))
def test_every_map_of_the_library_is_proven(players: int) -> None:
    files = sorted(
        entry.name for entry in LIBRARY.iterdir() if entry.name.startswith(f"m{players}_")
    )
    assert len(files) >= 50
    for name in files:
        arena_map = decode_map((LIBRARY / name).read_bytes(), name.removesuffix(".json"))
        assert arena_map.players == players
        assert f"{arena_map.map_id}.json" == name


@pytest.mark.parametrize("players", PLAYERS)
def test_the_first_ten_are_usual_and_the_others_vary(players: int) -> None:
    library = maps_for(players)
    assert len({encode_map(arena_map) for arena_map in library}) == len(library)
    usual = [
        arena_map
        for arena_map in library
        if arena_map.rows == arena_map.cols == 60 and arena_map.wall_density == 0.15
    ]
    assert set(library[:10]) <= set(usual)
    assert {arena_map.cores_per_player for arena_map in library} == {1, 2}
    assert len({arena_map.rows for arena_map in library}) > 20


@pytest.mark.parametrize("players", PLAYERS)
def test_maps_of_the_library_are_fit_for_play(players: int) -> None:
    assert is_playable(maps_for(players)[-1])


def test_the_seed_draws_among_the_usual_maps() -> None:
    starts = [GAME.new(2, seed) for seed in range(40)]
    assert len({start.cores for start in starts}) > 5
    assert all((s.config.rows, s.config.cols) == (60, 60) for s in starts)
    assert GAME.new(2, 5) == GAME.new(2, 5)


def test_a_map_is_named_by_its_id() -> None:
    arena_map = maps_for(3)[12]
    state = GAME.new(3, 1, map=arena_map.map_id)
    assert (state.config.rows, state.config.cols) == (arena_map.rows, arena_map.cols)
    assert len(state.bots) == len(state.cores) == 3 * arena_map.cores_per_player
    assert [stats.score for stats in state.stats] == [arena_map.cores_per_player] * 3
    assert [core.id for core in state.cores] == list(range(len(state.cores)))
    assert [core.owner for core in state.cores] == sorted(core.owner for core in state.cores)


def test_options_choose_among_the_maps() -> None:
    arena_map = maps_for(2)[20]
    wanted = {
        "rows": arena_map.rows,
        "cols": arena_map.cols,
        "wall_density": arena_map.wall_density,
        "energy_nodes": len(arena_map.nodes),
        "cores_per_player": arena_map.cores_per_player,
    }
    assert wanted.keys() == DEFAULTS.keys()
    assert GAME.new(2, 1, **wanted).config.rows == arena_map.rows


def test_a_map_file_is_played_on(tmp_path: Path) -> None:
    arena_map: Map = make_map("mine", 2, 7, rows=30, cols=33)
    file = tmp_path / "mine.json"
    file.write_bytes(encode_map(arena_map))
    assert GAME.new(2, 1, map=str(file)).config.cols == 33
    file.write_bytes(encode_map(arena_map)[:-9])
    with pytest.raises(UsageError, match="map mine: no JSON"):
        GAME.new(2, 1, map=str(file))


@pytest.mark.parametrize(
    ("players", "options", "message"),
    [
        (5, {}, "players: 5 is not one of 2, 3, 4, 6"),
        (True, {}, "players: True is not one of"),
        (2, {"foo": 1}, "unknown option: foo"),
        (2, {"rows": 20}, r"rows: 20 is not within 30\.\.120"),
        (2, {"rows": True}, "rows: True is not within"),
        (2, {"wall_density": 0.5}, "wall_density: 0.5 is not within"),
        (2, {"max_turns": 0}, r"max_turns: 0 is not within 1\.\.1000"),
        (2, {"max_turns": 10.0}, "max_turns: 10.0 is not within"),
        (2, {"vision_radius2": 401}, "vision_radius2"),
        (2, {"rows": 119, "cols": 117}, "the library has none for 2 players with rows 119"),
        (3, {"rows": 40, "cols": 40}, "3 players need rows or cols divisible by 3"),
        (4, {"rows": 40, "cols": 41}, "4 players need rows == cols, or rows and cols both even"),
        (4, {"map": "m2_001"}, "map m2_001: made for 2 players, 4 given"),
        (2, {"map": "m2_999"}, "the library has no 'm2_999'"),
        (2, {"map": "../secret.json"}, "map secret: No such file"),
        (2, {"map": ""}, "neither the id of a map nor the path"),
        (2, {"map": 7}, "neither the id of a map nor the path"),
        (2, {"map": "m2_001", "rows": 60}, "map excludes rows"),
    ],
)
def test_a_start_that_cannot_be_is_refused(
    players: int, options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        GAME.new(players, 1, **options)


def test_a_seed_out_of_range_is_refused() -> None:
    with pytest.raises(UsageError, match="seed"):
        GAME.new(2, -1)
