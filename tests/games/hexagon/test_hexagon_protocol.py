"""The wire protocol of Hexagon: what of an answer is checked, and the service of a strategy."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from cw.games.hexagon.bot_server import HexagonBotHandler
from cw.games.hexagon.protocol import opening, read_move, read_ok
from cw.games.hexagon.rules import Hexagon
from cw.games.hexagon.state import Move
from cw.games.hexagon.strategies import STRATEGIES
from cw.games.rules import Fault
from cw.games.wire import BotContext, Reply, Request

GAME = Hexagon()


@pytest.mark.parametrize(
    "body",
    [b'{"status":"ok"}', b'\xef\xbb\xbf{"status":"ok"}', b'{"status":"no","status":"ok","x":[1]}'],
)
def test_an_answer_of_status_ok(body: bytes) -> None:
    assert not isinstance(read_ok(Reply(body, 201)), Fault)


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b'{"status":"ok"}', 500, "HTTP status 500"),
        (b'{"status":"ok"}', 302, "HTTP status 302"),
        (b"", 200, "not JSON"),
        (b"\xff", 200, "not JSON"),
        (b"[" * 100_000, 200, "not JSON"),
        (b'{"status":"ok"} {}', 200, "not JSON"),
        (b"[]", 200, '"status": "ok"'),
        (b"{}", 200, '"status": "ok"'),
        (b'{"status":true}', 200, '"status": "ok"'),
        (b'{"status":"OK"}', 200, '"status": "ok"'),
    ],
    ids=lambda v: str(v)[:20],
)
def test_an_answer_that_is_none(body: bytes, status: int, message: str) -> None:
    fault = read_ok(Reply(body, status))
    assert isinstance(fault, Fault)
    assert fault.kind == "malformed"
    assert message in fault.detail


def moved(**document: Any) -> Move | Fault:
    return read_move(Reply(json.dumps({"status": "ok", **document}).encode()))


def test_a_move_is_read() -> None:
    assert moved(move_from=[0, 1], move_to=[2, 3], fault="timeout") == Move((0, 1), (2, 3))
    assert moved(move_from=[-7, 10**30], move_to=[0, 0]) == Move((-7, 10**30), (0, 0))


@pytest.mark.parametrize(
    "start", [None, [], [1], [1, 2, 3], [1.0, 2], ["1", 2], [True, 2], [None, 2], {"0": 1}, "12"]
)
def test_a_move_that_is_none_is_malformed(start: Any) -> None:
    for document in (
        {"move_from": start, "move_to": [0, 0]},
        {"move_from": [0, 0], "move_to": start},
    ):
        fault = moved(**document)
        assert isinstance(fault, Fault)
        assert fault.kind == "malformed"


def test_a_service_keeps_its_battles_apart() -> None:
    make = STRATEGIES["greedy"]
    service = HexagonBotHandler(BotContext(lambda player: make(player, Random(1)), {}, lambda: 0.0))
    boards = {"one": GAME.new(2, 1, size=3), "two": GAME.new(2, 2, size=5)}
    for number, state in boards.items():
        reply = service.answer(Request("POST", "/games", opening(state, number, 1)))
        assert reply.status == 200
    for number, state in boards.items():
        answer = read_move(service.answer(Request("GET", f"/games/{number}?color=1")))
        assert isinstance(answer, Move)
        GAME.check(state, 1, answer)
    assert service.answer(Request("GET", "/games/three?color=1")).status == 404
    assert service.answer(Request("DELETE", "/games/three", b"{}")).status == 200
    assert service.answer(Request("DELETE", "/games/one", b"{}")).status == 200
    assert service.answer(Request("GET", "/games/one?color=1")).status == 404
    for body in (b"", b"[]", b"{}", b'{"id":1}'):
        assert service.answer(Request("POST", "/games", body)).status == 400


def test_a_service_follows_a_whole_battle() -> None:
    make = STRATEGIES["greedy"]
    service = HexagonBotHandler(BotContext(lambda player: make(player, Random(2)), {}, lambda: 0.0))
    state = GAME.new(2, 3, size=4)
    service.answer(Request("POST", "/games", opening(state, "b", 1)))
    while state.color is not None:
        answer = read_move(service.answer(Request("GET", f"/games/b?color={state.color}")))
        assert isinstance(answer, Move)
        GAME.check(state, state.color, answer)
        state = GAME.step(state, {state.color: answer})
        battle = {
            "jumps": {"1": state.jumps[0], "2": state.jumps[1]},
            "changes": [list(change) for change in state.changes],
        }
        service.answer(Request("PUT", "/games/b", json.dumps(battle).encode()))
        copy = service.games["b"].state
        assert (copy.cells, copy.jumps, copy.placed) == (
            state.cells,
            state.jumps,
            state.placed,
        )
