"""Who won and by what, in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from cw.arena.bots import read_bots
from cw.matches.spec import MatchSpec
from cw.matches.verdict import never_played, verdict
from tests.matches.playing import play_spec

NOBODY = "bob=exec:no-such-program"
FORFEIT = "ann won by forfeit: bob never played."


@pytest.mark.parametrize(
    ("game", "bots", "options", "sentence"),
    [
        (
            "paint",
            ["ann=builtin:greedy", "bob=builtin:walker"],
            {"turns": 20},
            "ann won by score, 23",
        ),
        (
            "paint",
            ["ann=builtin:still", "bob=builtin:still"],
            {"turns": 2},
            "Draw: nobody stands alone at the top.",
        ),
        ("paint", ["ann=builtin:still", NOBODY], {}, FORFEIT),
        ("hexagon", ["ann=builtin:random", NOBODY], {}, FORFEIT),
        (
            "circuit-wars",
            ["ann=builtin:random", NOBODY],
            {},
            FORFEIT,
        ),
        (
            "hexagon",
            ["ann=builtin:constant", "bob=builtin:greedy"],
            {},
            "bob won by forfeit: ann was illegal in turn",
        ),
        (
            "code-battle",
            ["ann=builtin:hunter", "bob=builtin:rusher"],
            {"max_turns": 60},
            "bob won by turn limit, not by score.",
        ),
    ],
)
def test_the_sentence(game: str, bots: list[str], options: dict[str, Any], sentence: str) -> None:
    spec = MatchSpec("verdict", game, tuple(read_bots(bots).bots), 3, options)
    result = play_spec(spec).result
    assert verdict(spec, result).startswith(sentence)
    assert never_played(result) == ([1] if NOBODY in bots else [])
