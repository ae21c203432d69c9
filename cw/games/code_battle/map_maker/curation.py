"""The map library: generated from one seed, each map play-tested before it is added."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from cw.errors import UsageError
from cw.games.code_battle.maps.generate import make_map, map_ids
from cw.games.code_battle.maps.map_file import Map
from cw.games.code_battle.rules import CodeBattle
from cw.games.code_battle.rules.start import MATCH_OPTIONS, on_map
from cw.games.code_battle.rules.state import Config
from cw.games.code_battle.rules.vision import view_of
from cw.games.code_battle.strategies.gatherer import Gatherer

EACH: Final = 50
"""Maps per number of players."""

DEFAULT_MAPS: Final = 10
"""How many of them use the default options; they come first."""

SIDES: Final = range(30, 81)
"""The range of rows and columns of all other maps."""

TEST_TURNS: Final = 150
"""The number of turns in a play-test."""


def library(players: int, seed: int) -> Iterator[Map]:
    """Yield the library's maps for a number of players; the same seed gives the same maps."""
    rng = Random(f"{seed} {players}")
    for number, map_id in enumerate(map_ids(players, EACH)):
        yield curated(map_id, players, rng, default=number < DEFAULT_MAPS)


def curated(map_id: str, players: int, rng: Random, *, default: bool) -> Map:
    """Return the first playable map that random options and seeds produce."""
    while True:
        options = {} if default else draw_options(rng)
        try:
            candidate = make_map(map_id, players, rng.randrange(2**31), **options)
        except UsageError:
            continue
        if is_playable(candidate):
            return candidate


def draw_options(rng: Random) -> dict[str, Any]:
    """Return random options for the map maker; some of them produce no map."""
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
