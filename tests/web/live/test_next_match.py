"""What may follow a match by hand."""

from __future__ import annotations

import pytest

from cw.arena.bots import BotSpec
from cw.games.registry import load_play_options, load_strategies
from cw.matches.spec import MatchSpec
from cw.web.live_matches import next_matches, stronger_than

BY_HAND = ("circuit-wars", "hexagon", "paint")
YOU = BotSpec("you", "human", "")


def spec_of(opponent: str, game: str = "hexagon", **options: int) -> MatchSpec:
    return MatchSpec("page", game, (YOU, BotSpec(opponent, "builtin", opponent)), 1, options)


def test_again_swapped_and_stronger() -> None:
    suggestions = next_matches(spec_of("random", size=4), ("human", "builtin:random"))
    assert [(match.words, dict(match.form)) for match in suggestions.matches] == [
        ("Play again", {"size": "4", "seat-1": "human", "seat-2": "builtin:random"}),
        ("Swap sides", {"size": "4", "seat-1": "builtin:random", "seat-2": "human"}),
        (
            "Stronger opponent: greedy",
            {"size": "4", "seat-1": "human", "seat-2": "builtin:greedy"},
        ),
    ]
    assert suggestions.strongest == ""


@pytest.mark.parametrize("game", BY_HAND)
def test_random_is_followed_by_greedy_and_then_by_what_is_stronger(game: str) -> None:
    names = list(load_strategies(game))
    second = names.index("greedy")
    expected = ["greedy"] * second + [*names[second + 1 :], None]
    assert [stronger_than(game, name) for name in names] == expected


def test_the_strongest_is_called_so() -> None:
    suggestions = next_matches(spec_of("expert"), ("builtin:expert", "human"))
    assert [match.words for match in suggestions.matches] == ["Play again", "Swap sides"]
    assert suggestions.strongest == "expert"


def test_a_bot_of_the_owner_has_no_strength() -> None:
    suggestions = next_matches(spec_of("mine"), ("human", "bot:mine"))
    assert [match.words for match in suggestions.matches] == ["Play again", "Swap sides"]
    assert suggestions.strongest == ""


@pytest.mark.parametrize("players", [(), ("builtin:random", "builtin:greedy")])
def test_nobody_plays_again_who_has_only_watched(players: tuple[str, ...]) -> None:
    assert next_matches(spec_of("greedy"), players).matches == ()


@pytest.mark.parametrize("game", BY_HAND)
def test_only_options_that_forms_offer_are_said_again(game: str) -> None:
    offered = [choice.option for choice in load_play_options(game).choices]
    options = dict.fromkeys([*offered, "timeout"], 7)
    suggestions = next_matches(spec_of("random", game, **options), ("human", "builtin:random"))
    assert set(suggestions.matches[0].form) == {*offered, "seat-1", "seat-2"}
