"""The engine against the literal reference, on random crowded positions."""

from __future__ import annotations

from random import Random
from typing import Any

from cw.games.code_battle.codec import CodeBattleCodec
from cw.games.code_battle.rules import CodeBattle
from tests.effort import amount
from tests.games.code_battle.rules.code_battle_reference import reference_step

GAME = CodeBattle()
CODEC = CodeBattleCodec(GAME)
TRANSITIONS = amount(800, 2500)


def random_state(rng: Random) -> Any:
    """Return a small crowded position: collisions, chains, wraps and captures are common."""
    rows, cols = rng.randint(3, 9), rng.randint(3, 9)
    slots = rng.choice((1, 2, 2, 3, 4, 6))
    tiles = [(row, col) for row in range(rows) for col in range(cols)]
    rng.shuffle(tiles)
    walls = [list(tiles.pop()) for _ in range(rng.randint(0, len(tiles) // 4))]
    nodes = [
        {"row": row, "col": col, "energy": rng.random() < 0.5, "timer": rng.randint(0, 3)}
        for row, col in rng.sample(tiles, rng.randint(0, len(tiles) // 3))
    ]
    for node in nodes:
        node["timer"] *= not node["energy"]
    cores = [
        {
            "id": number,
            "row": row,
            "col": col,
            "owner": rng.randrange(slots),
            "active": rng.random() < 0.8,
            "last_spawn": rng.randint(0, 5),
        }
        for number, (row, col) in enumerate(rng.sample(tiles, rng.randint(0, len(tiles) // 3)))
    ]
    ids = rng.sample(range(100), len(tiles))
    bots = [
        {"id": ids[number], "row": row, "col": col, "owner": rng.randrange(slots)}
        for number, (row, col) in enumerate(rng.sample(tiles, rng.randint(1, len(tiles) * 2 // 3)))
    ]
    players = [
        {
            "energy": rng.randint(0, 7),
            "collected": rng.randint(0, 9),
            "score": rng.randint(-2, 5),
            "eliminated": rng.randint(0, 3),
            "dominant_turns": rng.choice((0, 0, 5, 98)),
            "failures": rng.choice((0, 0, 3, 9)),
            "crashed": rng.random() < 0.1,
        }
        for _ in range(slots)
    ]
    return {
        "config": {
            "rows": rows,
            "cols": cols,
            "max_turns": 500,
            "vision_radius2": rng.choice((1, 9, 49)),
            "attack_radius2": rng.choice((1, 2, 5, 5, 9)),
            "spawn_cost": rng.randint(1, 3),
            "energy_interval": rng.randint(1, 4),
        },
        "turn": rng.randint(0, 499),
        "walls": walls,
        "nodes": nodes,
        "cores": cores,
        "bots": sorted(bots, key=lambda bot: bot["id"]),
        "next_bot_id": 100,
        "players": players,
        "dead": [],
    }


def random_actions(rng: Random, state: Any) -> dict[str, Any]:
    """Return orders for most bots, some of them wrong, and now and then a fault."""
    actions: dict[str, Any] = {}
    for slot in range(len(state["players"])):
        if rng.random() < 0.1:
            actions[str(slot)] = {"fault": rng.choice(("timeout", "malformed", "crashed"))}
            continue
        entries: list[Any] = []
        for bot in state["bots"]:
            if bot["owner"] == slot or rng.random() < 0.05:
                row, col = bot["row"], bot["col"]
                direction = rng.choice(("N", "E", "S", "W", "N", "E", "S", "W", "n", None))
                entries.append(
                    rng.choice(
                        (
                            {"row": row, "col": col, "direction": direction},
                            {"position": {"row": row, "col": col}, "direction": direction},
                            {"row": row, "col": 1.0, "direction": "N"},
                        )
                    )
                )
        rng.shuffle(entries)
        actions[str(slot)] = entries + rng.sample(entries, min(1, len(entries)))
    return actions


def test_the_engine_plays_as_the_document_says_word_by_word() -> None:
    rng = Random(2)
    met = {"dead": 0, "captured": 0, "spawned": 0}
    for _ in range(TRANSITIONS):
        document = random_state(rng)
        actions = random_actions(rng, document)
        state = CODEC.state_from_json(document)
        assert CODEC.state_to_json(state) == document
        after = CODEC.state_to_json(GAME.step(state, CODEC.actions_from_json(state, actions)))
        assert after == reference_step(document, actions)
        met["dead"] += len(after["dead"])
        met["captured"] += after["cores"] != document["cores"]
        met["spawned"] += after["next_bot_id"] > 100
    assert min(met.values()) > TRANSITIONS // 10
