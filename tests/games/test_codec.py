"""The documents of a game that are made of its types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from msgspec import Meta

from cw.errors import ProtocolError, UsageError, short
from cw.games.codec import DefaultCodec, default_codec
from cw.games.registry import load_game
from cw.games.rules import Fault


class Point(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class Position:
    """A state with all that JSON has no word for."""

    points: tuple[Point, ...]
    owned: Mapping[int, str]
    left: Annotated[int, Meta(ge=0, le=9)]
    ended: Literal["won", "lost"] | None = None


def codec(action: Any = Point) -> DefaultCodec[Any, Any, Any]:
    return DefaultCodec(load_game("circuit-wars").rules, Position, action)


HERE = Position((Point(1, 2), Point(3, 4)), {7: "a"}, 5)
WRITTEN = {"points": [[1, 2], [3, 4]], "owned": {"7": "a"}, "left": 5, "ended": None}


def test_a_state_is_written_as_a_file_would_give_it_back() -> None:
    assert codec().state_to_json(HERE) == WRITTEN == json.loads(json.dumps(WRITTEN))
    assert codec().state_from_json(WRITTEN) == HERE
    assert codec().view_from_json(codec().view_to_json(HERE)) == HERE


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"left": 10}, r"Expected `int` <= 9 - at `\$.left`: it is 10"),
        ({"left": 1.0}, r"Expected `int`, got `float` - at `\$.left`: it is 1.0"),
        ({"left": True}, r"got `bool` - at `\$.left`: it is True"),
        ({"points": [[1, 2], [3, "4"]]}, r"got `str` - at `\$.points\[1\]\[1\]`: it is '4'"),
        ({"owned": {"7": None}}, r"got `null` - at `\$.owned\[...\]`"),
        ({"owned": {"seven": "a"}}, "`key`"),
        ({"ended": "drawn"}, r"at `\$.ended`: it is 'drawn'"),
        ({"ended": "d" * 10_000}, r"d\.\.\."),
    ],
)
def test_a_refusal_says_where_what_came_and_what_was_expected(change: Any, message: str) -> None:
    with pytest.raises(ProtocolError, match=message) as error:
        codec().state_from_json(WRITTEN | change)
    assert str(error.value).startswith("this is not a valid state of circuit-wars: ")
    assert len(str(error.value)) < 400


def test_actions_and_faults_are_read_by_player() -> None:
    state = load_game("circuit-wars").rules.new(2, 0)
    actions = {"1": [1, 2], "2": {"fault": "timeout", "error": "too late"}}
    assert codec().actions_from_json(state, actions) == {
        1: Point(1, 2),
        2: Fault("timeout", "too late"),
    }
    with pytest.raises(ProtocolError, match="action of player 1"):
        codec().actions_from_json(state, {"1": [1]})
    with pytest.raises(ProtocolError, match="unknown player '3'; the players are 1, 2"):
        codec().actions_from_json(state, {"3": [1, 2]})


def test_rules_that_say_no_types_need_a_codec() -> None:
    class Wordless:
        name = "wordless"

        def new(self, players, seed, **options):  # type: ignore[no-untyped-def]
            return None

    with pytest.raises(UsageError, match=r"Wordless\.new must say which type it returns"):
        default_codec(Wordless())  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["a" * 10_000, list(range(10_000)), 10**4000, {"k": ["v"] * 99}])
def test_a_value_is_cut_for_a_sentence(value: Any) -> None:
    assert len(short(value)) <= 60
