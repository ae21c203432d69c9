"""The start of a match (document, "Start"): a map, the settings, one bot on each core."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from cw.errors import UsageError
from cw.games.code_battle.generate import DEFAULTS, Plan, read_plan
from cw.games.code_battle.library import find_map, maps_for
from cw.games.code_battle.maps import Map
from cw.games.code_battle.ranges import shown, whole
from cw.games.code_battle.state import Bot, Config, Core, Node, PlayerStats, State, Terrain
from cw.games.code_battle.symmetry import check_players
from cw.games.rules import Json

MATCH_OPTIONS: Final[dict[str, tuple[int, int, int]]] = {
    "max_turns": (500, 1, 1000),
    "vision_radius2": (49, 1, 400),
    "attack_radius2": (5, 1, 25),
    "spawn_cost": (3, 1, 20),
    "energy_interval": (10, 1, 100),
}
"""Name -> default, lowest and highest value."""

OPTIONS: Final = ("map", *DEFAULTS, *MATCH_OPTIONS)
"""Those of the map maker choose among the maps of the library."""


def start(players: Json, seed: int, options: Mapping[str, Json]) -> State:
    """Return the start of a match; raise UsageError for options that make none."""
    check_players(players)
    for name in options:
        if name not in OPTIONS:
            raise UsageError(f"unknown option: {name}; known: {', '.join(OPTIONS)}")
    whole("seed", seed)
    settings = {name: setting(name, options) for name in MATCH_OPTIONS}
    chosen = choose_map(players, seed, options)
    return on_map(chosen, Config(rows=chosen.rows, cols=chosen.cols, **settings), seed)


def setting(name: str, options: Mapping[str, Json]) -> int:
    """Return one of the settings of a match; raise UsageError if it is out of its range."""
    default, low, high = MATCH_OPTIONS[name]
    value = options.get(name, default)
    if type(value) is int and low <= value <= high:
        return value
    raise UsageError(f"{name}: {shown(value)} is not within {low}..{high}")


def choose_map(players: int, seed: int, options: Mapping[str, Json]) -> Map:
    """Return the map that is named, or draw one of the library by the seed."""
    asked = {name: options[name] for name in DEFAULTS if name in options}
    if "map" in options:
        if asked:
            raise UsageError(f"map excludes {', '.join(asked)}: the map decides")
        found = find_map(options["map"])
        if found.players != players:
            raise UsageError(
                f"map {found.map_id}: made for {found.players} players, {players} given"
            )
        return found
    plan = read_plan(players, seed, asked)
    fitting = [found for found in maps_for(players) if is_made_so(found, plan)]
    if not fitting:
        named = ", ".join(f"{name} {value}" for name, value in asked.items())
        raise UsageError(
            f"map: the library has none for {players} players with {named};"
            " make one with `cw maps code-battle generate` and give its file as map"
        )
    return Random(seed).choice(fitting)


def is_made_so(found: Map, plan: Plan) -> bool:
    """Return whether a map was made with these options."""
    return (
        found.symmetry == plan.symmetry
        and found.wall_density == plan.wall_density
        and found.cores_per_player == plan.cores_per_player
        and len(found.nodes) == plan.node_orbits * found.players
    )


def on_map(chosen: Map, config: Config, seed: int) -> State:
    """Return the start on a map: one bot on each core, slot 0's first, and all nodes empty."""
    cols = config.cols
    cores = tuple(
        Core(number, row * cols + col, owner, active=True, last_spawn=0)
        for number, ((row, col), owner) in enumerate(sorted(chosen.cores, key=lambda core: core[1]))
    )
    owned = [core.owner for core in cores]
    return State(
        config=config,
        terrain=Terrain(config.rows, cols, tuple(row * cols + col for row, col in chosen.walls)),
        turn=0,
        nodes=tuple(Node(row * cols + col, energy=False, timer=0) for row, col in chosen.nodes),
        cores=cores,
        bots=tuple(Bot(core.id, core.tile, core.owner) for core in cores),
        next_bot_id=len(cores),
        stats=tuple(PlayerStats(score=owned.count(slot)) for slot in range(chosen.players)),
        seed=seed,
    )
