"""Whole games as they were once played: a change of the rules shows here as a diff.

`python -m tests.test_golden` writes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cw.games.registry import GAMES, load_game
from cw.games.rules import Json
from tests.test_every_game import tried

GOLDEN = Path(__file__).resolve().parent / "golden"
SEEDS = (1, 2)


def lines(name: str, seed: int) -> Iterator[str]:
    """Write down a random game: the start, then of each turn the actions and what has changed."""
    game = load_game(name)
    codec = game.codec
    before: dict[str, Json] = {}
    for state, actions in tried(game.name).turns(seed):
        if not before:
            before = codec.state_to_json(state)
            yield json.dumps({"start": before})
        replies = {str(player): codec.action_to_json(action) for player, action in actions.items()}
        after_state = game.rules.step(state, actions)
        after = json.loads(json.dumps(codec.state_to_json(after_state)))
        changed = {key: after[key] for key in after if after[key] != before.get(key)}
        yield json.dumps({"actions": replies, "changed": changed})
        before = after
    yield json.dumps({"result": codec.result_to_json(after_state)})


def file_of(name: str, seed: int) -> Path:
    return GOLDEN / name / f"seed-{seed}.jsonl"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", GAMES)
def test_the_game_is_played_as_it_was(name: str, seed: int) -> None:
    recorded = file_of(name, seed).read_text(encoding="utf-8").splitlines()
    for number, (now, then) in enumerate(zip(lines(name, seed), recorded, strict=True), start=1):
        assert now == then, f"line {number}; if this is meant: python -m tests.test_golden"


def rewrite() -> None:
    """Write all golden games anew."""
    for name in GAMES:
        for seed in SEEDS:
            path = file_of(name, seed)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join([*lines(name, seed), ""]), encoding="utf-8")


if __name__ == "__main__":
    rewrite()
