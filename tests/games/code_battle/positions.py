"""Small positions of Code Battle, written as the worked examples of its document are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cw.games.code_battle.codec import CodeBattleCodec
from cw.games.code_battle.rules import CodeBattle

GAME = CodeBattle()
CODEC = CodeBattleCodec(GAME)
SLOTS = "ABCDEF"
FAR = "A12,0 B12,12"
"""Bots far off, so that nothing ends."""

DEFAULTS = {
    "max_turns": 500,
    "vision_radius2": 49,
    "attack_radius2": 5,
    "spawn_cost": 3,
    "energy_interval": 10,
}


def counts_of(**counts: int) -> dict[str, Any]:
    """Return the counts of a slot at the start, but for those that are named."""
    start = {
        "energy": 0,
        "collected": 0,
        "score": 1,
        "eliminated": 0,
        "dominant_turns": 0,
        "failures": 0,
        "crashed": False,
    }
    return {**start, **counts}


def position(
    bots: str,
    *,
    slots: int = 2,
    size: tuple[int, int] = (20, 20),
    cores: str = "",
    nodes: str = "",
    walls: tuple[tuple[int, int], ...] = (),
    turn: int = 0,
    stats: Mapping[str, Mapping[str, int]] | None = None,
    **config: int,
) -> dict[str, Any]:
    """Return the document of a state.

    `bots` and `cores` are words like `A5,3`; a core may end in `@turn` of its last spawn; `nodes`
    are words like `3,9*` (with energy) or `18,18+9` (empty, with its timer).
    """
    changes = stats or {}
    return {
        "config": {"rows": size[0], "cols": size[1], **DEFAULTS, **config},
        "turn": turn,
        "walls": [list(wall) for wall in walls],
        "nodes": [node(word) for word in nodes.split()],
        "cores": [core(number, word) for number, word in enumerate(cores.split())],
        "bots": [bot(number, word) for number, word in enumerate(bots.split())],
        "next_bot_id": len(bots.split()),
        "players": [counts_of(**changes.get(name, {})) for name in SLOTS[:slots]],
        "dead": [],
    }


def place(word: str) -> dict[str, int]:
    row, col = word.split(",")
    return {"row": int(row), "col": int(col)}


def bot(number: int, word: str) -> dict[str, int]:
    return {"id": number, **place(word[1:]), "owner": SLOTS.index(word[0])}


def core(number: int, word: str) -> dict[str, Any]:
    where, _, spawned = word[1:].partition("@")
    owner = SLOTS.index(word[0])
    last = int(spawned or 0)
    return {"id": number, **place(where), "owner": owner, "active": True, "last_spawn": last}


def node(word: str) -> dict[str, Any]:
    where, _, timer = word.rstrip("*").partition("+")
    return {**place(where), "energy": word.endswith("*"), "timer": int(timer or 0)}


def orders(*words: str) -> dict[str, Any]:
    """Return actions from words like `A5,3N`."""
    actions: dict[str, Any] = {}
    for word in words:
        moves = actions.setdefault(str(SLOTS.index(word[0])), [])
        moves.append({**place(word[1:-1]), "direction": word[-1]})
    return actions


def play(document: dict[str, Any], *words: str, **faults: str) -> dict[str, Any]:
    """Return the document of the state after one turn, with `outcome` in it."""
    state = CODEC.state_from_json(document)
    actions = orders(*words)
    for name, kind in faults.items():
        actions[str(SLOTS.index(name))] = {"fault": kind}
    after = GAME.step(state, CODEC.actions_from_json(state, actions))
    result: dict[str, Any] = CODEC.state_to_json(after) | CODEC.result_to_json(after)
    return result


def words(document: dict[str, Any], name: str = "bots") -> str:
    """Return the bots, or the dead, as words, sorted."""
    return " ".join(
        sorted(f"{SLOTS[thing['owner']]}{thing['row']},{thing['col']}" for thing in document[name])
    )
