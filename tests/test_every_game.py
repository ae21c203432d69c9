"""What every game must keep to; a game is tested by being listed in the catalogue."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, TypeAlias

import pytest

from cw.errors import UsageError
from cw.games.codec import Game
from cw.games.registry import GAMES, load_game, load_strategies
from cw.games.rules import FAULT_KINDS, Fault, Json, Rules
from tests.documented import installed
from tests.games.code_battle.fog import alter_unseen

AnyRules: TypeAlias = Rules[Any, Any, Any]

SMALL: dict[str, dict[str, Json]] = {
    "circuit-wars": {"size": 3},
    "code-battle": {"max_turns": 25, "energy_interval": 3, "spawn_cost": 1},
    "end-of-codes": {"M": 3, "MAX_HP": 2, "W": 7, "H": 6, "max_rounds": 60},
    "hexagon": {"size": 3},
    "paint": {"width": 4, "height": 3, "turns": 12},
}
"""Options for games that are over soon."""

ILLEGAL_ON_PURPOSE = {("hexagon", "constant")}
"""Strategies that are there to try the referee."""

UNSEEN: dict[str, Callable[[Any, Any, Random], Any]] = {"code-battle": alter_unseen}
"""Fogged games -> what changes a state where a player does not see it."""

MOST_TURNS = 3000


NAMES = [*GAMES, "nim"]


@pytest.fixture(autouse=True)
def with_the_documented_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(installed())


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def game(name: str) -> Game:
    return load_game(name)


@pytest.fixture
def rules(game: Game) -> AnyRules:
    return game.rules


def players_of(rules: AnyRules) -> list[int]:
    """Return the numbers of players to try: the fewest, and one more where the game allows it."""
    return [number for number in (2, 3, 4) if number in rules.seats][:2]


def start(rules: AnyRules, seed: int, players: int | None = None) -> Any:
    return rules.new(players or players_of(rules)[0], seed, **SMALL.get(rules.name, {}))


def turns(rules: AnyRules, seed: int, players: int | None = None) -> Iterator[tuple[Any, Any]]:
    """Play a random game; give each state with the actions that are made in it."""
    rng = Random(seed)
    state = start(rules, seed, players)
    for _ in range(MOST_TURNS):
        if rules.outcome(state) is not None:
            return
        actions = {player: rules.sample(state, player, rng) for player in rules.to_move(state)}
        yield state, actions
        state = rules.step(state, actions)
    raise AssertionError(f"{rules.name} goes on for more than {MOST_TURNS} turns")


def some(rules: AnyRules, seed: int, most: int = 12) -> list[tuple[Any, Any]]:
    """Return some turns of a random game, the first and the last among them."""
    played = list(turns(rules, seed))
    if len(played) <= most:
        return played
    return [played[0], *Random(seed).sample(played[1:-1], most - 2), played[-1]]


def shown(game: Game, state: Any) -> str:
    """Print a state and its result."""
    return json.dumps([game.codec.state_to_json(state), game.codec.result_to_json(state)])


def test_the_name_is_the_one_in_the_catalogue(name: str, rules: AnyRules) -> None:
    assert rules.name == name
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)


def test_the_same_seed_gives_the_same_game(game: Game) -> None:
    for players in players_of(game.rules):
        first, again = (
            [shown(game, state) for state, _ in turns(game.rules, 5, players)] for _ in range(2)
        )
        assert first == again


def test_a_step_leaves_its_input_alone(game: Game) -> None:
    for state, actions in some(game.rules, 1):
        before, given = shown(game, state), repr(actions)
        game.rules.step(state, actions)
        assert (shown(game, state), repr(actions)) == (before, given)


def test_a_game_is_over_exactly_when_there_is_an_outcome(rules: AnyRules) -> None:
    for players in players_of(rules):
        for seed in range(3):
            for state, actions in turns(rules, seed, players):
                assert actions, "nobody has failed, so somebody is to move"
                end = rules.step(state, actions)
            outcome = rules.outcome(end)
            assert outcome is not None
            assert rules.to_move(end) == ()
            seats = set(rules.players(end))
            assert set(outcome.ranks) == set(outcome.scores) == seats
            assert min(outcome.ranks.values()) == 1
            assert outcome.winner is None or outcome.ranks[outcome.winner] == 1
            assert outcome.reason


def test_any_fault_of_anybody_at_any_time_is_survived(game: Game) -> None:
    rules = game.rules
    for state, actions in some(rules, 2, most=6):
        for player in rules.players(state):
            for kind in FAULT_KINDS:
                after = rules.step(state, {**actions, player: Fault(kind)})
                assert shown(game, after)
                assert shown(game, rules.step(state, {player: Fault(kind)}))
                assert rules.outcome(after) is None or not rules.to_move(after)


def test_faults_alone_lead_to_an_end(rules: AnyRules) -> None:
    state = start(rules, 3)
    for _ in range(MOST_TURNS):
        if rules.outcome(state) is not None:
            return
        state = rules.step(state, {player: Fault("timeout") for player in rules.to_move(state)})
    raise AssertionError("nothing but faults, and no end")


def test_every_sampled_action_is_legal(rules: AnyRules) -> None:
    for seed in range(3):
        for state, actions in turns(rules, seed):
            for player, action in actions.items():
                rules.check(state, player, action)


def test_the_order_of_actions_never_matters(game: Game) -> None:
    rules = game.rules
    rng = Random(4)
    for state, actions in some(rules, 4):
        items = list(actions.items())
        rng.shuffle(items)
        expected = shown(game, rules.step(state, actions))
        assert shown(game, rules.step(state, dict(items))) == expected
        assert shown(game, rules.step(state, dict(reversed(actions.items())))) == expected


def test_states_and_actions_survive_their_json(game: Game) -> None:
    rules = game.rules
    for state, actions in some(rules, 6):
        document = json.loads(json.dumps(game.codec.state_to_json(state)))
        read = game.codec.state_from_json(document)
        assert game.codec.state_to_json(read) == game.codec.state_to_json(state)
        said = {
            str(player): game.codec.action_to_json(action) for player, action in actions.items()
        }
        actions_read = game.codec.actions_from_json(read, json.loads(json.dumps(said)))
        after = game.codec.state_to_json(rules.step(state, actions))
        assert game.codec.state_to_json(rules.step(read, actions_read)) == after


def test_everyone_sees_something_that_can_be_printed(game: Game) -> None:
    rules = game.rules
    for state, _ in some(rules, 7, most=4):
        for player in (*rules.players(state), None):
            view = rules.observe(state, player)
            assert json.dumps(game.codec.view_to_json(view))
        assert game.codec.player_from_json(state, str(rules.players(state)[0])) in rules.players(
            state
        )


@pytest.mark.parametrize("name", UNSEEN)
def test_a_change_out_of_sight_changes_no_view(game: Game) -> None:
    rules = game.rules
    rng = Random(9)
    for state, _ in some(rules, 9):
        for player in rules.players(state):
            other = UNSEEN[game.name](state, player, rng)
            assert shown(game, other) != shown(game, state)
            views = [game.codec.view_to_json(rules.observe(s, player)) for s in (state, other)]
            assert views[0] == views[1]


def test_unknown_options_are_refused(rules: AnyRules) -> None:
    with pytest.raises(UsageError, match="unknown option"):
        rules.new(players_of(rules)[0], 0, colour_of_the_table="green")


def test_every_strategy_plays_legally(name: str, game: Game) -> None:
    rules = game.rules
    for strategy, make in load_strategies(name).items():
        if (name, strategy) in ILLEGAL_ON_PURPOSE:
            continue
        state = start(rules, 8)
        seats = {player: make(player, Random(8)) for player in rules.players(state)}
        for _ in range(25):
            if rules.outcome(state) is not None:
                break
            actions = {p: seats[p].act(rules.observe(state, p)) for p in rules.to_move(state)}
            for player, action in actions.items():
                if not isinstance(action, Fault):
                    rules.check(state, player, action)
            state = rules.step(state, actions)
        assert shown(game, state), strategy
