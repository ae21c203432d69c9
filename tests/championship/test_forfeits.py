"""What a forfeit counts in tables: nothing for who has forfeited."""

from __future__ import annotations

from typing import Any

import pytest

from cw.championship.config import ChampionshipSettings
from cw.championship.entries import EntryFault
from tests.championship.contests import entry


def counted(game: str, **changed: Any) -> tuple[float, ...]:
    """Return what a match counts in the tables of a game."""
    options = {"size": 7} if game == "circuit-wars" else {}
    settings = ChampionshipSettings(("a", "b"), "teams", game=game, options=options)
    return settings.lines().result(entry("a", "b", **changed)).scores


def fault(kind: str, seat: int = 1) -> tuple[EntryFault, ...]:
    return (EntryFault(seat, 3, kind, "it broke"),)


@pytest.mark.parametrize(
    ("game", "reason", "kind"),
    [
        ("hexagon", "crashed", "crashed"),
        ("hexagon", "startup", "startup"),
        ("paint", "not_enough_ready", "startup"),
        ("code-battle", "turn_limit", "startup"),
    ],
)
def test_a_forfeit_scores_nothing(game: str, reason: str, kind: str) -> None:
    assert counted(game, scores=(12, 30), reason=reason, faults=fault(kind)) == (12, 0)


def test_a_forfeit_of_circuit_wars_gives_every_square() -> None:
    assert counted("circuit-wars", scores=(5, 4), reason="timeout", faults=fault("timeout")) == (
        49,
        0,
    )


def test_who_plays_on_after_a_fault_keeps_its_score() -> None:
    late = {"reason": "turns_over", "scores": (12, 9)}
    assert counted("paint", **late, faults=fault("timeout")) == (12, 9)
    assert counted("code-battle", **late, faults=fault("startup"), longest_ms=(3, 3)) == (12, 9)


def test_who_never_started_scores_nothing_in_a_draw_either() -> None:
    draw = {"reason": "turn_limit", "ranks": (1, 1), "scores": (1, 1)}
    assert counted("code-battle", **draw, faults=fault("startup")) == (1, 0)
    both = fault("startup", 0) + fault("startup", 1)
    assert counted("code-battle", **draw, faults=both) == (1, 1)


def test_the_winner_keeps_its_score_whatever_it_did_wrong() -> None:
    both = fault("illegal", 0) + fault("crashed", 1)
    assert counted("hexagon", reason="crashed", faults=both) == (5, 0)
