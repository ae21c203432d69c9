"""How a match ended, as its replay tells it, whatever the file says."""

from __future__ import annotations

from typing import Any

import pytest

from cw.games.registry import load_endings
from cw.replays.ending import ending_of

WORDS = load_endings("code-battle")
PLAYERS = [(0, "ada"), (1, "bob"), (2, "cy")]
ENERGY = {"final_scores": [2, 2, 1], "final_energy": [90, 120, 500], "final_bots": [1, 1, 1]}


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (
            {"reason": "finished", "winner": 1, "scores": {"0": 3, "1": 7, "2": 5}},
            "bob won by score, 7 to 5, 3",
        ),
        (
            {"condition": "turn_limit", "winner": 1} | ENERGY,
            "bob won on the tie-break, collected energy 120 to 90",
        ),
        (
            {"condition": "dominance", "winner": 1} | ENERGY,
            "bob won by domination: at least 80 % of all bots for 100 turns",
        ),
        ({"reason": "timeout", "winner": 0, "scores": {"0": 0, "1": 0}}, "ada won by forfeit"),
        ({"reason": "resigned", "winner": 0, "scores": {"0": 9}}, "ada won by resignation"),
        ({"reason": "agreed_upon", "winner": 2}, "cy won: agreed upon"),
        ({"reason": "finished", "winner": None}, "draw: finished"),
        ({"reason": "finished", "winner": 7}, "draw: finished"),
    ],
)
def test_the_sentence_says_who_won_and_by_what(outcome: Any, sentence: str) -> None:
    assert ending_of(PLAYERS, {"outcome": outcome}, WORDS).sentence == sentence


@pytest.mark.parametrize(
    "result",
    [None, 7, [], {}, {"outcome": None}, {"outcome": "x"}, {"outcome": {"winner": 0}}],
)
def test_without_a_reason_a_match_is_not_over(result: Any) -> None:
    ending = ending_of(PLAYERS, result, WORDS)
    assert (ending.sentence, ending.winner, ending.reason) == ("not over", None, "")


@pytest.mark.parametrize(
    "scores",
    [
        7,
        "abc",
        [True, {}, None],
        [1e300, float("nan"), float("inf")],
        {"0": [], "1": "2", "2": 10**400},
        [],
    ],
)
def test_scores_that_are_none_are_left_out(scores: Any) -> None:
    outcome = {"reason": "x" * 10_000, "winner": 0, "scores": scores}
    ending = ending_of(PLAYERS, {"outcome": outcome}, WORDS)
    assert ending.scores == (None, None, None)
    assert len(ending.sentence) < 120
