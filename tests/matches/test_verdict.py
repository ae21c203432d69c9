"""Who won and by what, in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cw.arena.bots import read_bots
from cw.matches.spec import MatchSpec
from cw.matches.verdict import never_played, verdict
from tests.matches.bots_of_games import CODE_BATTLE, write
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


@pytest.mark.parametrize(
    ("instead", "absent"),
    [("self.reply(body, 200, mark)", []), ("self.reply(body, 500, mark)", [0])],
)
def test_a_service_without_health_has_played_if_it_answers_later(
    tmp_path: Path, instead: str, absent: list[int]
) -> None:
    sick = ('status = 200 if self.path == "/health" else 404', "status = 503")
    bot = write(tmp_path, CODE_BATTLE, sick, ("self.reply(body, 200, mark)", instead))
    bots = read_bots([f"ann={bot}", "bob=builtin:random"]).bots
    spec = MatchSpec("verdict", "code-battle", tuple(bots), 3, {"max_turns": 5})
    result = play_spec(spec).result
    assert "startup" in [fault.kind for fault in result.faults_of(0)]
    assert never_played(result) == absent
