"""The wire protocol of Paint: the ready line, the nonce, and messages that grow."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from cw.games.paint.protocol import Messages, read_answer, read_ready
from cw.games.paint.rules import Paint
from cw.games.paint.state import ACTIONS, Action
from cw.games.rules import Fault
from cw.games.wire import Ignore, Reply

GAME = Paint()


def answered(line: bytes) -> Any:
    return read_answer(5, Reply(line))


@pytest.mark.parametrize(
    "line",
    [
        b'{"turns_left":5,"type":"walk","direction":[-1,0]}',
        b'{"type": "walk", "direction": [-1.0, 0], "turns_left": 5.0, "more": {}}',
        b'\xef\xbb\xbf{"turns_left":5,"type":"walk","direction":[-1,0]}',
        b'{"turns_left":4,"type":"walk","direction":[-1,0],"turns_left":5}',
        b'{"turns_left":5,"type":"walk","direction":[-1,0],"fault":"timeout"}',
    ],
)
def test_an_answer(line: bytes) -> None:
    assert answered(line) == Action("walk", (-1, 0))


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"hello", "malformed"),
        (b"", "malformed"),
        (b"\xff\xfe", "malformed"),
        (b"[" * 100_000, "malformed"),
        (b"[5]", "malformed"),
        (b"{}", "malformed"),
        (b'{"turns_left":NaN}', "malformed"),
        (b'{"turns_left":"5","type":"walk","direction":[-1,0]}', "malformed"),
        (b'{"turns_left":true,"type":"walk","direction":[-1,0]}', "malformed"),
        (b'{"turns_left":6,"type":"walk","direction":[-1,0]}', "timeout"),
        (b'{"turns_left":5.5}', "timeout"),
        (b'{"turns_left":' + b"9" * 40 + b"}", "timeout"),
    ],
    ids=lambda v: str(v)[:24],
)
def test_a_line_that_is_skipped(line: bytes, kind: str) -> None:
    result = answered(line)
    assert isinstance(result, Ignore)
    assert result.fault.kind == kind


@pytest.mark.parametrize(
    "rest",
    [
        b"",
        b',"type":"walk"',
        b',"type":"Walk","direction":[1,0]',
        b',"type":"walk","direction":[0,0]',
        b',"type":"walk","direction":[2,0]',
        b',"type":"walk","direction":[1]',
        b',"type":"walk","direction":[1,0,0]',
        b',"type":"walk","direction":["1",0]',
        b',"type":"walk","direction":[true,0]',
        b',"type":"walk","direction":[0.5,0]',
        b',"type":"walk","direction":null',
        b',"type":["walk"],"direction":[1,0]',
    ],
)
def test_an_answer_that_is_illegal(rest: bytes) -> None:
    result = answered(b'{"turns_left":5' + rest + b"}")
    assert isinstance(result, Fault)
    assert result.kind == "illegal"


def test_only_the_ready_line_is_ready() -> None:
    assert read_ready(Reply(b'{"ready":true,"name":"x"}')) == {"ready": True, "name": "x"}
    for line in (b"hi", b'{"ready":1}', b'{"ready":"true"}', b'{"ready":false}', b"[]"):
        assert isinstance(read_ready(Reply(line)), Ignore)


@pytest.mark.parametrize("history", ["all", 0, 3])
def test_messages_are_those_of_the_rules(history: Any) -> None:
    state = GAME.new(["a", "b"], 1, width=4, height=3, turns=9, history=history)
    messages, rng = Messages(state), Random(1)
    while state.turns_left:
        message = json.loads(messages.of(state))
        assert message == GAME.observe(state, "a")
        assert list(message) == list(GAME.observe(state, "a"))
        state = GAME.step(state, {player: rng.choice(ACTIONS) for player in ("a", "b")})
