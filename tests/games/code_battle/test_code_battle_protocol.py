"""The wire protocol of Code Battle: signatures, replies, and the service of a strategy."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from cw.games.code_battle.bot_server import CodeBattleBotHandler
from cw.games.code_battle.protocol import read_moves, read_signed, signature
from cw.games.code_battle.rules.turn import view_of
from cw.games.code_battle.strategies import STRATEGIES
from cw.games.rules import Fault
from cw.games.wire import BotContext, LineMessage, Reply, Request, compact
from tests.games.code_battle.positions import CODEC, GAME

SECRET = "0123456789abcdef" * 4
NOW = 1711200000
REQUEST = "49ea321d6cd6cbc6406a7bcc4585921f0cc79107a9b3cbd51b8dd7515b347474"
ANSWER = "142b87dffcad9eae1ec2cc2a26ee430ac9f67e89a1f87f4ae9ce0167f9ba420c"


def test_the_signatures_of_the_document() -> None:
    assert signature(SECRET, f"m_7f3a9b2c.42.{NOW}", b'{"turn":42}') == REQUEST
    assert signature(SECRET, "m_7f3a9b2c.42", b'{"moves":[]}') == ANSWER


def signed(body: bytes, mark: str | None = None) -> Reply:
    mark = mark or signature(SECRET, "m_7f3a9b2c.42", body)
    return Reply(body, 200, {"x-acb-signature": mark})


def judged(reply: Reply) -> Any:
    return read_signed(SECRET, "m_7f3a9b2c.42", reply)


def test_a_signed_reply_is_read() -> None:
    assert judged(signed(b'{"moves":[]}', ANSWER)) == []
    assert judged(signed(b'{"moves":[7],"note":1}')) == [7]


@pytest.mark.parametrize(
    ("reply", "detail"),
    [
        (Reply(b'{"moves":[]}', 500), "HTTP status 500"),
        (Reply(b'{"moves":[]}', 302), "HTTP status 302"),
        (Reply(b'{"moves":[]}'), "signature missing"),
        (signed(b'{"moves":[]}', "x"), "signature wrong"),
        (signed(b'{"moves":[]}', ANSWER.upper()), "signature wrong"),
        (signed(b'{"moves":[]}', ANSWER[:-1]), "signature wrong"),
        (signed(b'{"moves":[]}', "\xe9" * 64), "signature wrong"),
        (signed(b'{"moves": [] }', ANSWER), "signature wrong"),
        (signed(b"not json"), "not JSON"),
        (signed(b"\xff"), "not JSON"),
        (signed(b"[" * 100_000), "not JSON"),
        (signed(b'{"moves": NaN}'), "not JSON"),
        (signed(b"[]"), "not an object"),
        (signed(b"{}"), "moves is not an array"),
        (signed(b'{"moves":null}'), "moves is not an array"),
        (signed(b'{"moves":{}}'), "moves is not an array"),
    ],
)
def test_a_reply_that_is_wrong_is_malformed(reply: Reply, detail: str) -> None:
    fault = judged(reply)
    assert isinstance(fault, Fault)
    assert fault.kind == "malformed"
    assert detail in fault.detail


@pytest.fixture
def log_lines() -> list[str]:
    return []


@pytest.fixture
def service(log_lines: list[str]) -> CodeBattleBotHandler:
    make = STRATEGIES["gatherer"]
    settings = {"secret": SECRET}
    return CodeBattleBotHandler(
        BotContext(lambda player: make(player, Random(1)), settings, lambda: NOW, log_lines.append)
    )


def request(**changes: str) -> Request:
    state = GAME.new(2, 1)
    document = {"match_id": "m_1", **CODEC.view_to_json(view_of(state, 0))}
    body = compact(document)
    headers = {
        "X-ACB-Match-Id": "m_1",
        "X-ACB-Turn": "0",
        "X-ACB-Timestamp": str(NOW),
        "X-ACB-Signature": signature(SECRET, f"m_1.0.{NOW}", body),
    }
    return Request("POST", "/turn", body, headers | changes)


def test_a_service_answers_signed_moves(
    service: CodeBattleBotHandler, log_lines: list[str]
) -> None:
    reply = service.answer(request())
    assert reply is not None
    mark = reply.headers["X-ACB-Signature"]
    assert mark == signature(SECRET, "m_1.0", reply.body)
    state = GAME.new(2, 1)
    moves = json.loads(reply.body)["moves"]
    GAME.check(state, 0, moves)
    assert log_lines == [f"turn 0 0.0 ms {len(moves)} moves"]


@pytest.mark.parametrize(
    "changes",
    [
        {"X-ACB-Signature": ""},
        {"X-ACB-Signature": "0" * 64},
        {"X-ACB-Signature": "é" * 64},
        {"X-ACB-Signature": "0" * 100_000},
        {"X-ACB-Turn": "1"},
        {"X-ACB-Turn": "zero"},
        {"X-ACB-Turn": "9" * 5000},
        {"X-ACB-Timestamp": str(NOW - 31)},
        {"X-ACB-Timestamp": "1e9"},
        {"X-ACB-Match-Id": "m_2"},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_a_service_refuses_what_is_not_signed(
    service: CodeBattleBotHandler, changes: dict[str, str]
) -> None:
    reply = service.answer(request(**changes))
    assert reply is not None
    assert (reply.status, reply.body) == (401, b"")
    assert service.matches == {}


@pytest.mark.parametrize("skew", [-30, 30])
def test_a_service_allows_clocks_to_differ(service: CodeBattleBotHandler, skew: int) -> None:
    call = request()
    stamp = str(NOW + skew)
    mark = signature(SECRET, f"m_1.0.{stamp}", call.body or b"")
    headers = {**call.headers, "X-ACB-Timestamp": stamp, "X-ACB-Signature": mark}
    reply = service.answer(Request("POST", "/turn", call.body, headers))
    assert reply is not None
    assert reply.status == 200


@pytest.mark.parametrize("body", [b"no json", b"[]", b"{}", b'{"match_id":"m_2","turn":0}'])
def test_a_service_refuses_a_body_that_does_not_fit(
    service: CodeBattleBotHandler, body: bytes
) -> None:
    mark = signature(SECRET, f"m_1.0.{NOW}", body)
    headers = {**request().headers, "X-ACB-Signature": mark}
    reply = service.answer(Request("POST", "/turn", body, headers))
    assert reply is not None
    assert reply.status == 400


def test_a_service_has_health_and_nothing_else(service: CodeBattleBotHandler) -> None:
    healthy = service.answer(Request("GET", "/health"))
    assert healthy is not None
    assert json.loads(healthy.body) == {"status": "ok"}
    for method, path in (("GET", "/"), ("POST", "/health"), ("GET", "/turn")):
        other = service.answer(Request(method, path))
        assert other is not None
        assert other.status == 404


def test_a_service_forgets_the_oldest_match(service: CodeBattleBotHandler) -> None:
    line = json.loads(request().body or b"")
    for number in range(70):
        service.answer(LineMessage(compact({**line, "match_id": f"m_{number}"})))
    assert len(service.matches) == 64
    assert "m_5" not in service.matches
    assert "m_69" in service.matches


def test_lines_are_read_as_replies_are() -> None:
    assert read_moves(Reply(b'{"moves":[1]}')) == [1]
