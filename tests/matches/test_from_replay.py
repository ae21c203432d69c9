"""A recorded match is told as it was when it had just been played."""

from __future__ import annotations

from typing import Any

import pytest

from cw.arena.bots import read_bots
from cw.errors import ProtocolError
from cw.matches.from_replay import verdict_of
from cw.matches.spec import MatchSpec
from cw.matches.verdict import verdict
from tests.matches.playing import play_spec


@pytest.mark.parametrize(
    ("game", "bots", "options"),
    [
        ("circuit-wars", ["builtin:greedy", "builtin:random"], {"size": 3}),
        ("code-battle", ["builtin:hunter", "builtin:rusher"], {"max_turns": 60}),
        ("code-battle", ["builtin:random", "builtin:random"], {"max_turns": 3}),
        ("end-of-codes", ["builtin:sample", "builtin:sample"], {"M": 5, "MAX_HP": 2}),
        ("hexagon", ["builtin:constant", "builtin:greedy"], {"size": 3}),
        ("hexagon", ["builtin:random", "exec:no-such-program"], {}),
        ("paint", ["builtin:still", "builtin:still"], {"turns": 2}),
        ("paint", ["builtin:still", "exec:no-such-program"], {}),
    ],
)
def test_a_replay_is_told_like_its_match(
    game: str, bots: list[str], options: dict[str, Any]
) -> None:
    spec = MatchSpec("replay", game, tuple(read_bots(bots).bots), 3, options)
    result = play_spec(spec).result
    assert verdict_of(result.replay) == verdict(spec, result)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    bots = read_bots(["builtin:greedy", "builtin:random"]).bots
    return play_spec(MatchSpec("replay", "paint", tuple(bots), 3, {"turns": 5})).result.replay


def test_a_match_without_an_outcome_has_no_verdict(document: dict[str, Any]) -> None:
    assert verdict_of(document | {"result": {"outcome": None}}) is None
    assert verdict_of(document | {"result": {}}) is None


@pytest.mark.parametrize(
    "outcome",
    [
        7,
        [],
        {},
        {"ranks": 1, "winner": None},
        {"ranks": {"greedy": "x"}, "winner": None},
        {"ranks": {"greedy": 1.5}, "winner": "greedy"},
        {"ranks": {}, "winner": []},
    ],
)
def test_an_outcome_that_is_none_is_refused(document: dict[str, Any], outcome: Any) -> None:
    with pytest.raises(ProtocolError, match=r"cannot be read|not a match result"):
        verdict_of(document | {"result": {"outcome": outcome}})


@pytest.mark.parametrize(
    "outcome",
    [
        {"ranks": {}, "winner": None, "scores": {"greedy": 10**400}},
        {"ranks": [1] * 99, "winner": "nobody", "scores": [1e308] * 99, "reason": "\x1b[2J"},
        {"ranks": [], "winner": None, "reason": "x" * 999},
    ],
)
def test_a_strange_outcome_is_told(document: dict[str, Any], outcome: Any) -> None:
    assert verdict_of(document | {"result": {"outcome": outcome}})
