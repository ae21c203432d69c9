"""A match as a value: what stands in it, and that it survives its JSON."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from cw.arena.bots import BotSpec
from cw.errors import ProtocolError
from cw.matches.spec import Isolation, MatchResult, MatchSpec
from tests.matches.playing import play_match

ALICE = BotSpec("alice", "builtin", "greedy")
BOB = BotSpec("bob", "http", "http://127.0.0.1:3000", {"form": "multipart"})


def test_a_specification_survives_its_json() -> None:
    isolation = Isolation("require", "public", ("10.1.0.0/16",))
    spec = MatchSpec("m1", "paint", (ALICE, BOB), 7, {"turns": 9}, {"any": [1]}, isolation)
    assert MatchSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


def test_a_result_survives_its_json() -> None:
    played = play_match("hexagon", ["builtin:greedy", "http://127.0.0.1:9"], 3, {"size": 3})
    result = played.result
    assert result.winner == 0
    assert [(fault.bot, fault.kind) for fault in result.faults] == [(1, "disconnected")]
    read = MatchResult.from_json(json.loads(json.dumps(result.to_json())))
    assert read == result
    assert [type(score) for score in read.scores] == [int, int]


def test_what_a_result_tells_is_told_by_bot() -> None:
    played = play_match("paint", ["builtin:still", "builtin:greedy"], 1, {"turns": 9})
    result = played.result
    assert (result.winner, result.ranks, result.turns) == (1, (2, 1), 9)
    assert result.scores[1] > result.scores[0]  # type: ignore[operator]
    assert [len(seconds) for seconds in result.seconds] == [9, 9]


def changed(**members: Any) -> Any:
    return MatchSpec("m1", "paint", (ALICE, BOB), 7).to_json() | members


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "Expected `object`"),
        (changed(bots=[]) | {"hat": 1}, "unknown field `hat`"),
        (changed(seed="one"), r"Expected `int`, got `str` - at `\$.seed`"),
        (changed(id=""), "length >= 1"),
        (changed(bots=[{"name": "a", "kind": "mole", "target": ""}]), r"at `\$.bots\[0\].kind`"),
        (changed(bots=[ALICE, ALICE]), "same name"),
        (
            changed(
                bots=[{"name": "a", "kind": "exec", "target": "x", "settings": {"secret": "s"}}]
            ),
            "must not contain secrets",
        ),
    ],
)
def test_what_is_no_specification_is_refused_with_its_place(document: Any, message: str) -> None:
    with pytest.raises(ProtocolError, match=message):
        MatchSpec.from_json(json.loads(json.dumps(document, default=msgspec.to_builtins)))
