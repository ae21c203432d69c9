"""The replay format of the rule book holds a whole match (document, P13)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cw.games.code_battle import exporter as book
from cw.games.code_battle.codec import CodeBattleCodec
from cw.games.code_battle.rules import CodeBattle
from cw.games.code_battle.state import Bot, Config, Core, Node, PlayerStats, State, Terrain
from cw.games.codec import Game
from cw.games.wire import compact
from cw.replays import document as replay
from tests.matches.playing import play_match

GAME = CodeBattle()
CODEC = CodeBattleCodec(GAME)


def start_of(document: Any) -> State:
    """Read the start of a match from a file of the format."""
    config = Config(**document["config"])
    field = document["map"]

    def tile(place: list[int]) -> int:
        return place[0] * config.cols + place[1]

    cores = tuple(
        Core(number, tile(core["pos"]), core["owner"], active=True, last_spawn=0)
        for number, core in enumerate(field["cores"])
    )
    owned = [core.owner for core in cores]
    return State(
        config=config,
        terrain=Terrain(config.rows, config.cols, tuple(map(tile, field["walls"]))),
        turn=0,
        nodes=tuple(Node(tile(place), energy=False, timer=0) for place in field["energy_nodes"]),
        cores=cores,
        bots=tuple(Bot(core.id, core.tile, core.owner) for core in cores),
        next_bot_id=len(cores),
        stats=tuple(
            PlayerStats(score=owned.count(slot)) for slot in range(len(document["players"]))
        ),
        seed=document["seed"],
    )


def states_of(document: Any) -> Iterator[State]:
    """Play a file of the format again."""
    state = start_of(document)
    yield state
    for turn in document["turns"]:
        said = {
            slot: [{"row": m["from"][0], "col": m["from"][1], "direction": m["dir"]} for m in moves]
            for slot, moves in turn["moves"].items()
        }
        said |= {slot: {"fault": kind} for slot, kind in turn.get("faults", {}).items()}
        state = GAME.step(state, CODEC.actions_from_json(state, said))
        yield state


def written_again(document: Any, states: list[State]) -> bytes:
    """Return the file of a match of which only the states are known."""
    turns = [
        book.turn_document(state) | ({"faults": old["faults"]} if "faults" in old else {})
        for state, old in zip(states[1:], document["turns"], strict=True)
    ]
    return compact(document | {"result": book.result(states), "turns": turns})


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (("gatherer", "rusher"), {"max_turns": 120}),
        (("swarm", "hunter", "random"), {"max_turns": 80, "attack_radius2": 9}),
        (("strategist", "guardian", "rusher", "gatherer"), {"max_turns": 60}),
        (("random", "random"), {"max_turns": 200, "energy_interval": 1, "spawn_cost": 1}),
    ],
    ids=["two", "three", "four", "many"],
)
def test_a_file_gives_the_states_and_the_states_the_file(
    names: tuple[str, ...], options: dict[str, Any]
) -> None:
    bots = [f"builtin:{name}" for name in names]
    recorded = play_match("code-battle", bots, 11, options).replay
    states = list(replay.states(Game(GAME, CODEC), recorded))
    data = book.export(recorded, states)
    document = json.loads(data)
    again = list(states_of(document))
    assert [CODEC.state_to_json(state) for state in again] == [
        CODEC.state_to_json(state) for state in states
    ]
    assert written_again(document, again) == data


def test_faults_are_part_of_the_file() -> None:
    bots = ["builtin:gatherer", "builtin:rusher"]
    recorded = play_match("code-battle", bots, 3, {"max_turns": 30}).replay
    for turn in recorded["turns"][-5:]:
        turn["actions"]["1"] = {"fault": "timeout"}
    states = list(replay.states(Game(GAME, CODEC), recorded))
    data = book.export(recorded, states)
    document = json.loads(data)
    again = list(states_of(document))
    assert again[-1].stats[1].failures == 5
    assert CODEC.state_to_json(again[-1]) == CODEC.state_to_json(states[-1])
    assert written_again(document, again) == data
