"""What every game must keep to; a game is tested by being listed in the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cw.games.codec import Game
from cw.games.registry import GAMES, load_game
from cw.games.rules import Json
from cw.suite import CHECKS, Subject, look_at
from tests.documented import installed
from tests.games.code_battle.fog import alter_unseen

SMALL: dict[str, dict[str, Json]] = {
    "circuit-wars": {"size": 3},
    "code-battle": {"max_turns": 25, "energy_interval": 3, "spawn_cost": 1},
    "end-of-codes": {"M": 3, "MAX_HP": 2, "W": 7, "H": 6, "max_rounds": 60},
    "hexagon": {"size": 3},
    "paint": {"width": 4, "height": 3, "turns": 12},
    "tron": {"size": 7},
}
"""Options for games that are over soon."""

ILLEGAL_ON_PURPOSE = {("hexagon", "constant")}
"""Strategies that are there to try the referee."""

UNSEEN: dict[str, Callable[[Any, Any, Random], Any]] = {"code-battle": alter_unseen}
"""Fogged games -> what changes a state where a player does not see it."""

NAMES = [*GAMES, "nim", "tron"]


@pytest.fixture(autouse=True)
def with_the_documented_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(installed())


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def game(name: str) -> Game:
    return load_game(name)


def tried(name: str) -> Subject:
    """Return a game with matches that are over soon."""
    illegal = {strategy for game, strategy in ILLEGAL_ON_PURPOSE if game == name}
    return Subject(load_game(name), SMALL.get(name, {}), illegal)


@pytest.mark.parametrize("check", CHECKS)
def test_the_game_keeps_to_what_every_game_does(name: str, check: str) -> None:
    CHECKS[check](tried(name))


def test_the_name_is_the_one_in_the_catalogue(name: str, game: Game) -> None:
    assert game.rules.name == name


@pytest.mark.parametrize("name", UNSEEN)
def test_a_change_out_of_sight_changes_no_view(game: Game) -> None:
    rules = game.rules
    rng = Random(9)
    for state, _ in tried(game.name).some(9):
        for player in rules.players(state):
            other = UNSEEN[game.name](state, player, rng)
            codec = game.codec
            assert codec.state_to_json(other) != codec.state_to_json(state)
            views = [game.codec.view_to_json(rules.observe(s, player)) for s in (state, other)]
            assert views[0] == views[1]


documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)

UNCHANGED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
"""The search path is the same for all examples of a test."""


@UNCHANGED
@given(document=documents)
def test_any_document_is_a_state_or_refused(name: str, document: Json) -> None:
    look_at(tried(name), document)
