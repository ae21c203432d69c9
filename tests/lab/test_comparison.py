"""Comparisons of whole matches, played in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from cw.games.registry import GAMES, load_game
from cw.games.rules import Json
from cw.lab.comparison import (
    Comparison,
    Contest,
    LineUp,
    document,
    read_line_up,
    sentence,
    starts_vary,
    varying_option,
)
from cw.lab.journal import Journal, MatchLine, line_of
from cw.league.strength_tests import Hypotheses
from cw.matches.run import run_match
from cw.matches.spec import MatchResult, MatchSpec

COPIES: dict[str, tuple[str, dict[str, Json]]] = {
    "circuit-wars": ("random", {"size": 3}),
    "hexagon": ("random", {"size": 3}),
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


def compared(line_up: LineUp, digests: Sequence[str], most: int = 60) -> Comparison:
    """Return a comparison after pairs that the new bot has won, each with a digest of its own."""
    now = Contest(line_up, Hypotheses(), 2 * most, 1).begin
    for number, digest in enumerate(digests):
        pair = [
            MatchSpec(f"{number}-{seat}", line_up.game, order, number)
            for seat, order in enumerate(line_up.seatings)
        ]
        lines = tuple(
            MatchLine(
                spec.id,
                spec.seed,
                tuple(bot.name for bot in spec.bots),
                tuple(1 if bot.name == line_up.new else 2 for bot in spec.bots),
                digest and f"{digest}{seat}",
            )
            for seat, spec in enumerate(pair)
        )
        now = now.with_pair(pair, lines)
    return now


PAINT = ("a=builtin:walker", "b=builtin:greedy")


def test_bots_that_repeat_one_match_are_seen_after_five_pairs() -> None:
    line_up = read_line_up("paint", PAINT)
    assert not compared(line_up, ["same"] * 4).is_over
    now = compared(line_up, ["same"] * 5)
    assert (now.is_over, now.repeats, now.decision, now.repeated) == (True, True, None, 4)
    expected = "undecided: these bots repeat one match; vary the start with "
    assert sentence(now) == expected + "`--option obstacle_percent=10`"
    told = document(now)
    assert (told["verdict"], told["sentence"]) == ("undecided", sentence(now))
    assert told["repeated_pairs"] == 4


def test_pairs_that_differ_decide_whatever_they_have_in_common() -> None:
    line_up = read_line_up("paint", PAINT)
    now = compared(line_up, [f"pair {number % 8}" for number in range(12)])
    assert (now.repeats, now.repeated, now.decision) == (False, 4, "stronger")
    # Matches of a journal that knew no digests are not the same for that.
    assert not compared(line_up, [""] * 8).repeats


def test_a_comparison_too_short_to_see_it_says_so_at_its_end() -> None:
    line_up = read_line_up("paint", PAINT)
    assert compared(line_up, ["same"] * 3, most=3).repeats
    assert not compared(line_up, ["one", "two", "three"], most=3).repeats


@pytest.mark.parametrize("game", GAMES)
def test_the_option_that_is_named_varies_the_start(game: str) -> None:
    line_up = read_line_up(game, ("a=builtin:random", "b=builtin:random"))
    option = varying_option(line_up)
    name, _, value = option.partition("=")
    options = {**line_up.options, **({name: int(value)} if option else {})}
    assert starts_vary(load_game(game), 2, options)


def test_where_the_start_varies_no_option_is_named() -> None:
    line_up = read_line_up("paint", PAINT, options={"obstacle_percent": 20})
    assert varying_option(line_up) == ""
    words = sentence(compared(line_up, ["same"] * 5))
    assert words == (
        "undecided: these bots repeat one match, whatever the start;"
        " let other bots play along with `--among`"
    )
    duel = read_line_up("hexagon", ("a=builtin:random", "b=builtin:greedy"))
    assert sentence(compared(duel, ["same"] * 5)).endswith("whatever the start")
