"""Comparisons of whole matches, played in this process."""

from __future__ import annotations

import asyncio

import pytest

from cw.games.registry import GAMES
from cw.games.rules import Json
from cw.lab.comparison import Comparison, Contest
from cw.lab.journal import Journal, line_of
from cw.lab.line_up import read_line_up
from cw.league.statistics.sprt import Hypotheses
from cw.matches.run import run_match
from cw.matches.spec import MatchResult, MatchSpec

COPIES: dict[str, tuple[str, dict[str, Json]]] = {
    "circuit-wars": ("random", {"size": 3}),
    "hexagon": ("random", {"size": 2}),
    "code-battle": ("random", {"max_turns": 25, "energy_interval": 3, "spawn_cost": 1}),
    "end-of-codes": ("sample", {"M": 3, "MAX_HP": 2, "W": 7, "H": 6, "max_rounds": 20}),
    "paint": ("random", {"turns": 6}),
}
"""Of each game a strategy that draws, and options of matches that are over soon."""


@pytest.mark.thorough
@pytest.mark.parametrize("game", GAMES)
def test_a_bot_is_called_stronger_than_its_copy_in_at_most_1_of_20_comparisons(game: str) -> None:
    strategy, options = COPIES[game]
    line_up = read_line_up(
        game, (f"a=builtin:{strategy}", f"b=builtin:{strategy}"), options=options
    )
    ends = [
        asyncio.run(played(Contest(line_up, Hypotheses(0, 100), 60, seed)))
        for seed in range(0, 20_000, 1000)
    ]
    assert sum(end.decision == "stronger" for end in ends) <= 1
    # Both might be said of them: the matches are not too few to decide anything.
    assert any(end.decision == "not stronger" for end in ends)


async def played(contest: Contest) -> Comparison:
    """Play pair after pair until a comparison is over."""
    journal, now = Journal(), contest.begin
    while not now.is_over:
        for spec in contest.pair(now.scores.pairs):
            journal.add(line_of(spec, await result_of(spec)))
        *_, now = contest.standing(journal, now)
    return now


async def result_of(spec: MatchSpec) -> MatchResult:
    """Play a match of built-in strategies, of which nothing is launched."""
    return await run_match(spec, on_launch=lambda *_: None)
