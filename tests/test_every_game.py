"""What every game must keep to; a game is tested by being listed in the catalogue."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any, TypeAlias, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cw.errors import ProtocolError, UsageError
from cw.games.codec import Game
from cw.games.registry import GAMES, load_game, load_strategies
from cw.games.rules import FAULT_KINDS, Fault, Json, Rules
from tests.documented import installed
from tests.games.code_battle.fog import alter_unseen

AnyRules: TypeAlias = Rules[Any, Any, Any]

T = TypeVar("T")

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


def nested(depth: int) -> Json:
    """Return lists in lists."""
    document: Json = 1
    for _ in range(depth):
        document = [document]
    return document


AWKWARD: tuple[Json, ...] = (
    None, True, -1, 0, 1, 2, 2**31, 2**63 - 1, 2**63, 2**64, 10**400, 1.0, 0.5, 1e308,
    float("inf"), float("nan"), "", "1", "walk", "\x00", "\ud800", "a" * 5000, [], [[]], {}, [1, 2],
    {"\ud800": 1}, {"1": 1}, {"fault": "timeout"}, {"fault": "\ud800"}, {"fault": [], "error": 7},
    nested(5000), {"fault": nested(5000)},
)  # fmt: skip
"""Values that JSON can hold and that readers trip over."""

documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)

UNCHANGED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
"""The search path is the same for all examples of a test."""


def places(document: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the way to every value within a document; of a list to its first and last."""
    yield path
    keys: Any = ()
    if isinstance(document, dict):
        keys = document
    elif isinstance(document, list):
        keys = {0, len(document) - 1} if document else ()
    for key in keys:
        yield from places(document[key], (*path, key))


def changed(document: Json, path: tuple[Any, ...], value: Json) -> Json:
    """Return a copy of a document with another value at a place."""
    if not path:
        return value
    copy = document.copy()
    copy[path[0]] = changed(copy[path[0]], path[1:], value)
    return copy


def without(document: Json, path: tuple[Any, ...]) -> Json:
    """Return a copy of a document without a value."""
    if len(path) > 1:
        return changed(document, path[:1], without(document[path[0]], path[1:]))
    copy = document.copy()
    del copy[path[0]]
    return copy


def read(reading: Callable[[], T]) -> T | None:
    """Return what is read; None if it was refused, with a sentence."""
    try:
        return reading()
    except ProtocolError as error:
        said = str(error)
    assert 0 < len(said) < 1000
    assert "\n" not in said
    return None


def look_at(game: Game, document: Json) -> None:
    """Read a state; one that is not refused can be played on."""
    state = read(lambda: game.codec.state_from_json(document))
    if state is not None:
        assert shown(game, state)
        assert set(game.rules.to_move(state)) <= set(game.rules.players(state))


def test_a_state_of_which_a_part_is_another_is_a_state_or_refused(game: Game) -> None:
    for state, _ in some(game.rules, 10, most=2):
        document = json.loads(json.dumps(game.codec.state_to_json(state)))
        for place in places(document):
            for value in AWKWARD:
                look_at(game, changed(document, place, value))
            if place:
                look_at(game, without(document, place))


@UNCHANGED
@given(document=documents)
def test_any_document_is_a_state_or_refused(name: str, document: Json) -> None:
    look_at(load_game(name), document)


def test_any_value_is_a_player_or_refused(game: Game) -> None:
    state = start(game.rules, 12)
    for value in AWKWARD:
        player = read(partial(game.codec.player_from_json, state, value))
        assert player is None or player in game.rules.players(state)


def test_any_actions_are_actions_or_refused(game: Game) -> None:
    state, actions = some(game.rules, 11)[0]
    player, action = next(iter(actions.items()))
    usual = json.loads(json.dumps(game.codec.action_to_json(action)))
    said = [changed(usual, place, value) for place in places(usual) for value in AWKWARD]
    for document in ({str(player): one} for one in (*said, *AWKWARD)):
        given_actions = read(partial(game.codec.actions_from_json, state, document))
        if given_actions is not None:
            assert shown(game, game.rules.step(state, given_actions))
    for document in AWKWARD:
        read(partial(game.codec.actions_from_json, state, document))
    with pytest.raises(ProtocolError, match="nobody"):
        game.codec.actions_from_json(state, {"nobody": None})
