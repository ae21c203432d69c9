"""`cw step` and `cw observe` answer every line with a line, whatever it says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw.games.codec import Game
from cw.games.registry import GAMES, load_game
from tests.mutations import CASES, spoiled
from tests.test_every_game import SMALL, tried

Line = tuple[str, dict[str, Any]]


def lines(game: Game) -> list[Line]:
    """Return lines of a game that are right, each with its command."""
    requests: list[Line] = [
        ("step", {"state": None, "options": {**SMALL[game.name], "seed": 1, "players": 2}})
    ]
    for state, actions in tried(game.name).some(4, most=6):
        document = game.codec.state_to_json(state)
        replies = {str(player): game.codec.action_to_json(one) for player, one in actions.items()}
        player = game.rules.players(state)[0]
        requests.append(("step", {"state": document, "actions": replies, "options": {}}))
        requests.append(("observe", {"state": document, "player": player}))
    return requests


def answers(command: str, game: str, requests: list[bytes]) -> list[dict[str, Any]]:
    """Return what a command answers to lines; one that holds no line end asks once."""
    data = b"".join(line.replace(b"\n", b" ") + b"\n" for line in requests)
    done = CliRunner().invoke(main, [command, game], input=data, catch_exceptions=False)
    assert done.exit_code == 0
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(replies) == sum(bool(line.strip()) for line in requests)
    return replies


@pytest.mark.parametrize("name", GAMES)
def test_every_line_gets_an_answer(name: str) -> None:
    rng, right = Random(name), lines(load_game(name))
    wrong: dict[str, list[bytes]] = {"step": [], "observe": []}
    for _ in range(CASES or 300):
        command, document = rng.choice(right)
        wrong[command].append(spoiled(rng, document))
    for command, requests in wrong.items():
        for answer in answers(command, name, requests):
            assert isinstance(answer, dict)
            assert isinstance(answer.get("error", ""), str)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("option", ["self", "document", "players_", "\x1b[2J"])
def test_an_option_may_have_any_name(name: str, option: str) -> None:
    request = json.dumps({"state": None, "options": {option: 1}}).encode()
    (answer,) = answers("step", name, [request])
    assert "unknown option" in answer["error"]
    start = json.dumps({"state": None, "options": {"seed": 1}}).encode()
    (start_answer,) = answers("step", name, [start])
    look = json.dumps({"state": start_answer["state"], option: 1}).encode()
    assert answers("observe", name, [look])


WORLD = {"round": 0, "W": 9, "H": 9, "MAX_HP": 2, "players": [{"userid": 1, "username": "a"}]}
CREATURE = {"creatureid": 1, "userid": 1, "x": 0, "y": 0, "hp": 1}


def world(**changes: Any) -> dict[str, Any]:
    return {"state": {**WORLD, "creatures": [CREATURE]} | changes, "actions": {}}


def entrants(userid: int) -> dict[str, Any]:
    """Return a line that asks for a start with two players, one with an id of its own."""
    players = [{"userid": userid, "username": "a"}, {"userid": 1, "username": "b"}]
    return {"state": None, "options": {"players": players}}


ABSURD: dict[str, Callable[[], dict[str, Any]]] = {
    "a huge map": partial(world, W=2**31 - 1, H=2**31 - 1),
    "a large map": partial(world, W=2001, H=2000),
    "an id beyond 64 bits": partial(world, creatures=[CREATURE | {"creatureid": 2**63}]),
    "a user beyond 64 bits": partial(world, players=[{"userid": 2**64, "username": "a"}]),
    "a user of a start beyond 63 bits": partial(entrants, 2**63),
    "a user of a start beyond 64 bits": partial(entrants, 2**64),
}


@pytest.mark.parametrize("start", ABSURD)
def test_what_is_too_large_is_refused_before_it_is_made(start: str) -> None:
    (answer,) = answers("step", "end-of-codes", [json.dumps(ABSURD[start]()).encode()])
    assert answer.keys() == {"error"}


def test_the_largest_map_is_taken() -> None:
    (answer,) = answers("step", "end-of-codes", [json.dumps(world(W=2000, H=2000)).encode()])
    assert answer["outcome"]["reason"] == "last_standing"


LARGE = (2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -1, -(2**63), -(2**63) - 1, 1.5)
"""Numbers at which types of other languages and of columns end."""


def numbers(document: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the places of the numbers of a document, of long lists those of a few members."""
    if isinstance(document, dict):
        members: list[tuple[Any, Any]] = list(document.items())
    elif isinstance(document, list):
        members = list(enumerate(document))
        members = members if len(members) < 4 else [*members[:2], members[-1]]
    else:
        members = []
    if type(document) in (int, float):
        yield place
    for name, member in members:
        yield from numbers(member, (*place, name))


def with_number(document: Any, place: tuple[Any, ...], number: float) -> Any:
    """Return a document with a number in a place."""
    if not place:
        return number
    name, *rest = place
    copied = copy(document)
    copied[name] = with_number(document[name], tuple(rest), number)
    return copied


@pytest.mark.parametrize("name", GAMES)
def test_every_number_may_be_any_number(name: str) -> None:
    game = load_game(name)
    for command, document in lines(game)[:3]:
        places = list(numbers(document))
        wrong = [
            json.dumps(with_number(document, place, number)).encode()
            for place in places
            for number in LARGE
        ]
        for answer in answers(command, name, wrong):
            assert isinstance(answer.get("error", ""), str)
