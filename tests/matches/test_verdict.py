"""Who won and by what, in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cw.arena.bots import BotSpec, read_bots
from cw.games.entry import GameEntry
from cw.games.registry import GAMES
from cw.matches.spec import MatchFault, MatchResult, MatchSpec
from cw.matches.verdict import never_played, verdict, won_by
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
            "ann won by score in turn 20: 23 to ",
        ),
        (
            "paint",
            ["ann=builtin:still", "bob=builtin:still"],
            {"turns": 2},
            "Draw in turn 2: ann and bob have 1 square each.",
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
            "bob won by forfeit in turn 3: ann made an illegal move.",
        ),
        (
            "code-battle",
            ["ann=builtin:hunter", "bob=builtin:rusher"],
            {"max_turns": 60},
            "bob won on the tie-break in turn 60: score 1 each, collected energy 2 to 0.",
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


def result_with(**members: Any) -> MatchResult:
    """Return a result of two players, or of as many as there are scores."""
    number = len(members["scores"])
    usual: dict[str, Any] = {
        "id": "m", "game": "code-battle", "reason": "turn_limit", "winner": 0, "faults": (),
        "ranks": (1, *[2] * (number - 1)), "seconds": ((),) * number, "turns": 60,
        "stderr": ("",) * number, "replay": {"turns": []},
    }  # fmt: skip
    return MatchResult(**{**usual, **members})


def outcome_of(result: MatchResult) -> tuple[str | None, str]:
    names = ("ann", "bob", "eve", "joe", "kim")[: len(result.scores)]
    bots = tuple(BotSpec(name, "builtin", "x") for name in names)
    spec = MatchSpec("m", result.game, bots, 1)
    return won_by(spec, result), verdict(spec, result)


LEVEL = {"collected energy": (5, 5), "living bots": (9, 8)}


@pytest.mark.parametrize(
    ("members", "by", "sentence"),
    [
        (
            {"scores": (7, 3), "tie_breaks": LEVEL},
            "score",
            "ann won by score in turn 60: score 7 to 3.",
        ),
        (
            {"scores": (1, 1), "tie_breaks": LEVEL},
            "tie-break",
            "ann won on the tie-break in turn 60: score 1 each, collected energy 5 each, living"
            " bots 9 to 8.",
        ),
        (
            {
                "scores": (4, 4, 4, 2),
                "tie_breaks": {"collected energy": (5, 3, 1, 99), "living bots": (1, 1, 1, 1)},
            },
            "tie-break",
            "ann won on the tie-break in turn 60: score 4 each, collected energy 5 to 3 and 1.",
        ),
        (
            {"scores": (9, 8, 7, 6, 5)},
            "score",
            "ann won by score in turn 60: score 9 to 8, 7, 6 and less.",
        ),
        (
            {"scores": (0, 8), "reason": "dominance", "turns": 312},
            "rules",
            "ann won in turn 312 by domination: at least 80 % of all bots for 100 turns.",
        ),
        (
            {"scores": (1, 1), "winner": None, "ranks": (1, 1), "tie_breaks": {"energy": (5, 5)}},
            None,
            "Draw in turn 60: ann and bob have score 1 and energy 5 each.",
        ),
        (
            {"scores": (0, 0), "winner": None, "ranks": (1, 1), "reason": "annihilation"},
            None,
            "Draw in turn 60: the last bots died together.",
        ),
        (
            {"scores": (1, 0), "game": "end-of-codes", "reason": "last_standing", "turns": 84},
            "rules",
            "ann won in round 84: no other player had creatures left.",
        ),
        (
            {"scores": (20, 29), "game": "circuit-wars", "reason": "resigned", "turns": 12},
            "resignation",
            "ann won in turn 12: bob resigned.",
        ),
        (
            {"scores": (2.5, 1), "game": "paint", "reason": "turns_over"},
            "score",
            "ann won by score in turn 60: 2.50 to 1 squares.",
        ),
        (
            {
                "scores": (20, 29), "game": "circuit-wars", "reason": "timeout", "turns": 13,
                "faults": (MatchFault(1, 2, 12, "timeout", "no answer"),),
            },
            "forfeit",
            "ann won by forfeit in turn 13: bob did not answer in time.",
        ),
        (
            {
                "scores": (7, 3),
                "faults": (
                    MatchFault(1, 1, 4, "timeout", "x"), MatchFault(1, 1, 9, "crashed", "y"),
                ),
            },
            "score",
            "ann won by score in turn 60: score 7 to 3. bob did not answer in time in turn 5, the"
            " first of 2 faults.",
        ),
        (
            {
                "scores": (1, 1), "game": "paint", "reason": "not_enough_ready", "turns": 0,
                "winner": None, "ranks": (1, 1),
                "faults": (
                    MatchFault(0, "ann", 0, "startup", "x"),
                    MatchFault(1, "bob", 0, "startup", "y"),
                ),
            },
            None,
            "Draw before the first turn: fewer than two bots were ready. ann never played. bob"
            " never played.",
        ),
        (
            {
                "scores": (7, 3, 2),
                "faults": (MatchFault(2, 2, 0, "startup", "x"),),
            },
            "score",
            "ann won by score in turn 60: score 7 to 3 and 2. eve never played.",
        ),
    ],
)  # fmt: skip
def test_who_won_by_what_and_when(members: dict[str, Any], by: str | None, sentence: str) -> None:
    assert outcome_of(result_with(**members)) == (by, sentence)


def test_a_game_without_words_of_its_own_is_told_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = GAMES["paint"].rules
    plain = {"other": GameEntry(rules=rules, strategies="")}
    monkeypatch.setattr("cw.games.registry.GAMES", plain)
    assert outcome_of(result_with(game="other", scores=(3, 4), reason="last_object")) == (
        "rules",
        "ann won in turn 60: last object.",
    )
