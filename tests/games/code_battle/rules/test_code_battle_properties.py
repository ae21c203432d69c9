"""The properties P1 to P12 of the document, on crowded random positions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cw.games.code_battle.rules.turn import DOMINANT_TURNS, view_of
from tests.games.code_battle.fog import hidden_tiles
from tests.games.code_battle.positions import CODEC, GAME
from tests.games.code_battle.rules.test_code_battle_reference import random_actions, random_state

Json = Any
Place = tuple[int, int]

seeds = st.integers(0, 2**32)

TURNED = {"N": "W", "W": "S", "S": "E", "E": "N", "n": "n", None: None}
"""Each direction after a quarter turn against the clock."""


def drawn(seed: int) -> tuple[Json, Json]:
    rng = Random(seed)
    state = random_state(rng)
    return state, random_actions(rng, state)


def after(state: Json, actions: Json) -> Json:
    read = CODEC.state_from_json(state)
    return CODEC.state_to_json(GAME.step(read, CODEC.actions_from_json(read, actions)))


def mapped(document: Json, place: Callable[[Place], Place], way: Callable[[Any], Any]) -> Json:
    """Map all places and directions in a document; lists of places stay in their order."""
    if isinstance(document, list):
        if len(document) == 2 and all(type(part) is int for part in document):
            return list(place((document[0], document[1])))
        return [mapped(entry, place, way) for entry in document]
    if isinstance(document, dict):
        copy = {key: mapped(value, place, way) for key, value in document.items()}
        if type(document.get("row")) is int and type(document.get("col")) is int:
            copy["row"], copy["col"] = place((document["row"], document["col"]))
        if "direction" in copy:
            copy["direction"] = way(copy["direction"])
        return copy
    return document


def normal(state: Json) -> Json:
    """Forget the order of the dead and of what was spawned in this turn."""
    copy = deepcopy(state)
    copy["dead"].sort(key=lambda dead: (dead["row"], dead["col"], dead["owner"]))
    return copy


@given(seeds, st.integers(0, 8), st.integers(0, 8))
def test_p1_a_shift_of_everything_shifts_the_result(seed: int, down: int, right: int) -> None:
    state, actions = drawn(seed)
    rows, cols = state["config"]["rows"], state["config"]["cols"]

    def shift(place: Place) -> Place:
        return (place[0] + down) % rows, (place[1] + right) % cols

    moved = after(mapped(state, shift, lambda way: way), mapped(actions, shift, lambda way: way))
    assert normal(moved) == normal(mapped(after(state, actions), shift, lambda way: way))


@given(seeds)
def test_p3_a_quarter_turn_of_a_square_turns_the_result(seed: int) -> None:
    state, actions = drawn(seed)
    side = state["config"]["rows"]
    if side != state["config"]["cols"]:
        return

    def turn(place: Place) -> Place:
        return side - 1 - place[1], place[0]

    turned = after(mapped(state, turn, TURNED.get), mapped(actions, turn, TURNED.get))
    assert normal(turned) == normal(mapped(after(state, actions), turn, TURNED.get))


@given(seeds)
def test_p2_other_names_for_the_slots_give_the_same_result(seed: int) -> None:
    state, actions = drawn(seed)
    slots = len(state["players"])
    names = Random(seed).sample(range(slots), slots)

    def rename(document: Json) -> Json:
        copy = deepcopy(document)
        for key in ("bots", "cores", "dead"):
            for thing in copy[key]:
                thing["owner"] = names[thing["owner"]]
        copy["players"] = [document["players"][names.index(slot)] for slot in range(slots)]
        return normal(copy)

    renamed = {str(names[int(slot)]): action for slot, action in actions.items()}
    results = rename(after(state, actions)), normal(after(rename(state), renamed))
    for result in results:
        for bot in result["bots"]:
            bot["id"] = min(bot["id"], state["next_bot_id"])
        result["bots"].sort(key=lambda bot: (bot["id"], bot["row"], bot["col"]))
    assert results[0] == results[1]


@given(seeds)
def test_p4_to_p10_what_holds_after_every_turn(seed: int) -> None:
    state, actions = drawn(seed)
    read = CODEC.state_from_json(state)
    end = GAME.step(read, CODEC.actions_from_json(read, actions))
    torus, config = end.terrain.torus, end.config
    spawned = [bot for bot in end.bots if bot.id >= read.next_bot_id]
    fighters = [bot for bot in end.bots if bot not in spawned]
    for bot in fighters:
        for other in fighters:
            if bot.owner != other.owner:
                assert torus.distance2(bot.tile, other.tile) > config.attack_radius2
    assert len({bot.tile for bot in end.bots}) == len(end.bots)
    assert not {bot.tile for bot in end.bots} & end.terrain.blocked
    assert len(end.bots) == len(read.bots) - len(end.dead) + len(spawned)
    captures = sum(
        was.active and not now.active for was, now in zip(read.cores, end.cores, strict=True)
    )
    bonus = 0
    if len(end.living) == 1:
        bonus = 2 * sum(core.active and core.owner not in end.living for core in end.cores)
    gained = sum(stats.score for stats in end.stats) - sum(stats.score for stats in read.stats)
    assert gained == captures + bonus
    for slot, (was, now) in enumerate(zip(read.stats, end.stats, strict=True)):
        paid = config.spawn_cost * sum(bot.owner == slot for bot in spawned)
        assert now.energy - was.energy == now.collected - was.collected - paid
        assert now.dominant_turns in (0, was.dominant_turns + 1)
        if slot not in end.living:
            free = [core for core in end.cores if core.active and core.owner == slot]
            assert not free or now.energy < config.spawn_cost
    assert sum(stats.dominant_turns > 0 for stats in end.stats) <= 1
    assert all(not now.active or was.active for was, now in zip(read.cores, end.cores, strict=True))
    for node in end.nodes:
        assert 0 <= node.timer < max(config.energy_interval, 4)
        assert not (node.energy and node.timer)
    assert DOMINANT_TURNS == 100


@given(seeds)
def test_p11_the_order_in_a_document_means_nothing(seed: int) -> None:
    state, actions = drawn(seed)
    rng = Random(seed)
    shuffled = deepcopy(state)
    for key in ("bots", "cores", "nodes", "walls"):
        rng.shuffle(shuffled[key])
    result, other = after(state, actions), after(shuffled, actions)
    for document in (result, other):
        for key in ("cores", "nodes", "walls"):
            document[key].sort(key=str)
    assert result == other


@given(seeds)
def test_p12_more_sight_shows_no_less(seed: int) -> None:
    state, _ = drawn(seed)
    views = []
    for radius2 in (1, 4, 20, 200):
        state["config"]["vision_radius2"] = radius2
        views.append(view_of(CODEC.state_from_json(state, seed=seed), 0))
    for less, more in itertools.pairwise(views):
        for name in ("bots", "nodes", "cores", "walls", "dead"):
            assert set(getattr(less, name)) <= set(getattr(more, name))
    if any(bot["owner"] == 0 for bot in state["bots"]):
        assert len(views[-1].bots) == len(state["bots"])
        assert len(views[-1].walls) == len(state["walls"])


@given(seeds)
def test_what_is_seen_is_what_is_near_enough(seed: int) -> None:
    state, _ = drawn(seed)
    read = CODEC.state_from_json(state)
    hidden = set(hidden_tiles(read, 0))
    view = view_of(read, 0)
    assert [tile for tile, _ in view.bots] == sorted(
        bot.tile for bot in read.bots if bot.tile not in hidden
    )
    assert list(view.walls) == sorted(set(read.terrain.walls) - hidden)
