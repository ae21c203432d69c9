"""The start of a match: a map, the settings, one bot on each core (rule book, "Start")."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from cw.errors import UsageError, choices
from cw.games.code_battle.maps.generation import DEFAULTS, MapSpec, read_map_spec
from cw.games.code_battle.maps.library import find_map, maps_for
from cw.games.code_battle.maps.map_file import Map
from cw.games.code_battle.maps.symmetry import check_players, short_text, whole
from cw.games.code_battle.rules.state import Bot, Config, Core, Node, PlayerStats, State, Terrain
from cw.games.rules import Json

MATCH_OPTIONS: Final[dict[str, tuple[int, int, int]]] = {
    "max_turns": (500, 1, 1000),
    "vision_radius2": (49, 1, 400),
    "attack_radius2": (5, 1, 25),
    "spawn_cost": (3, 1, 20),
    "energy_interval": (10, 1, 100),
}
"""Option -> default, lowest and highest value."""

OPTIONS: Final = ("map", *DEFAULTS, *MATCH_OPTIONS)
"""The options of a match; those of the map maker filter the library's maps."""


def start(players: Json, seed: int, options: Mapping[str, Json]) -> State:
    """Return the start of a match; raise UsageError if an option is unknown or invalid."""
    check_players(players)
    for name in options:
        if name not in OPTIONS:
            raise UsageError(f"unknown option: {name}; {choices(name, OPTIONS)}")
    whole("seed", seed)
    settings = {name: setting(name, options) for name in MATCH_OPTIONS}
    game_map = choose_map(players, seed, options)
    return on_map(game_map, Config(rows=game_map.rows, cols=game_map.cols, **settings), seed)


def setting(name: str, options: Mapping[str, Json]) -> int:
    """Return a setting of the match, or its default; raise UsageError if out of range."""
    default, low, high = MATCH_OPTIONS[name]
    value = options.get(name, default)
    if type(value) is int and low <= value <= high:
        return value
    raise UsageError(f"{name}: {short_text(value)} is not within {low}..{high}")


def choose_map(players: int, seed: int, options: Mapping[str, Json]) -> Map:
    """Return the map named by the options, or a matching one from the library, chosen by seed.

    Raises UsageError if there is none.
    """
    map_options = {name: options[name] for name in DEFAULTS if name in options}
    if "map" in options:
        if map_options:
            raise UsageError(f"map excludes {', '.join(map_options)}: the map decides")
        game_map = find_map(options["map"])
        if game_map.players != players:
            raise UsageError(
                f"map {game_map.map_id}: made for {game_map.players} players, {players} given"
            )
        return game_map
    spec = read_map_spec(players, seed, map_options)
    fitting = [game_map for game_map in maps_for(players) if fits(game_map, spec)]
    if not fitting:
        named = ", ".join(f"{name} {value}" for name, value in map_options.items())
        raise UsageError(
            f"map: the library has none for {players} players with {named};"
            " make one with `cw maps code-battle generate` and give its file as map"
        )
    return Random(seed).choice(fitting)


def fits(game_map: Map, spec: MapSpec) -> bool:
    """Return whether a map was made with the options of a specification."""
    return (
        game_map.symmetry == spec.symmetry
        and game_map.wall_density == spec.wall_density
        and game_map.cores_per_player == spec.cores_per_player
        and len(game_map.nodes) == spec.node_orbits * game_map.players
    )


def on_map(game_map: Map, config: Config, seed: int) -> State:
    """Return the start on a map: a bot on each core, numbered by slot, and all nodes empty."""
    cols = config.cols
    cores = tuple(
        Core(number, row * cols + col, owner, active=True, last_spawn=0)
        for number, ((row, col), owner) in enumerate(
            sorted(game_map.cores, key=lambda core: core[1])
        )
    )
    owned = [core.owner for core in cores]
    return State(
        config=config,
        terrain=Terrain(config.rows, cols, tuple(row * cols + col for row, col in game_map.walls)),
        turn=0,
        nodes=tuple(Node(row * cols + col, energy=False, timer=0) for row, col in game_map.nodes),
        cores=cores,
        bots=tuple(Bot(core.id, core.tile, core.owner) for core in cores),
        next_bot_id=len(cores),
        stats=tuple(PlayerStats(score=owned.count(slot)) for slot in range(game_map.players)),
        seed=seed,
    )
