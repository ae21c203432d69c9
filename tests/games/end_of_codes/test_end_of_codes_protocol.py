"""The wire protocol of End of Codes: the names of all faults, forms, and the sanity checks."""

from __future__ import annotations

import json
from email import message_from_bytes
from functools import partial
from random import Random
from urllib.parse import parse_qs, quote_plus

import pytest

from cw.games.end_of_codes.bot_server import EndOfCodesBotHandler, form
from cw.games.end_of_codes.codec import creatures
from cw.games.end_of_codes.protocol import (
    FAILED_BY,
    TEXTS,
    encoded_map,
    multipart,
    name_failure,
    read_bot,
    read_created,
    read_reply,
    sanity,
    urlencoded,
)
from cw.games.end_of_codes.rules import EndOfCodes
from cw.games.end_of_codes.strategies import STRATEGIES
from cw.games.rules import Fault
from cw.games.wire import SERVER_ERROR, BotContext, Reply, Request, compact

GOOD = {"botname": "wolf", "version": "2.1", "username": "alice"}


def initiated(body: bytes, status: int = 200) -> object:
    return read_reply("initiate", partial(read_bot, "alice"), Reply(body, status))


def test_a_good_reply_passes() -> None:
    assert initiated(json.dumps(GOOD).encode()) == GOOD
    for body in (b"[]", b"{}"):
        assert read_reply("game", read_created, Reply(body)) == json.loads(body)


WRONG: list[tuple[bytes, int, str, str]] = [
    (b"[]", 500, "crashed", "initiate_http_code_not_ok"),
    (b"[]", 404, "malformed", "initiate_http_code_not_ok"),
    (b"[]", 204, "malformed", "initiate_http_code_not_ok"),
    (b"", 200, "malformed", "initiate_invalid_json"),
    (b"null", 200, "malformed", "initiate_invalid_json"),
    (b"\xff", 200, "malformed", "initiate_invalid_json"),
    (b"\xef\xbb\xbf{}", 200, "malformed", "initiate_invalid_json"),
    (b'{"a":1,"a":2}', 200, "malformed", "initiate_invalid_json"),
    (b'{"a":NaN}', 200, "malformed", "initiate_invalid_json"),
    (b'{"a":Infinity}', 200, "malformed", "initiate_invalid_json"),
    (b"[" * 100_000, 200, "malformed", "initiate_invalid_json"),
    (b"9" * 5000, 200, "malformed", "initiate_invalid_json"),
    (b'{"error":"full"}', 200, "crashed", "initiate_error_key"),
    (b"[]", 200, "malformed", "initiate_botname_not_set"),
    (b'{"botname":null}', 200, "malformed", "initiate_botname_not_set"),
    (b'{"botname":"a"}', 200, "malformed", "initiate_version_not_set"),
    (b'{"botname":"a","version":"1"}', 200, "malformed", "initiate_username_not_set"),
    (
        b'{"botname":"a","version":1,"username":"alice"}',
        200,
        "malformed",
        "initiate_wrong_type",
    ),
    (
        b'{"botname":"a","version":"1","username":"alice","x":1}',
        200,
        "malformed",
        "initiate_additional_data",
    ),
    (
        b'{"botname":"a","version":"1","username":"Alice"}',
        200,
        "malformed",
        "initiate_username_mismatch",
    ),
]


@pytest.mark.parametrize(("body", "status", "kind", "name"), WRONG, ids=lambda v: str(v)[:30])
def test_the_first_check_that_fails_names_the_fault(
    body: bytes, status: int, kind: str, name: str
) -> None:
    cause = SERVER_ERROR if status >= 500 else ""
    assert initiated(body, status) == Fault(kind, name, cause)  # type: ignore[arg-type]


@pytest.mark.parametrize("body", [b"[1]", b'{"a":1}', b'"ok"', b"0", b"false"])
def test_a_game_is_confirmed_with_nothing(body: bytes) -> None:
    fault = read_reply("game", read_created, Reply(body))
    assert fault == Fault("malformed", "game_additional_data")


@pytest.mark.parametrize(
    ("fault", "kind", "name"),
    [
        (Fault("disconnected", "", "unresolved"), "disconnected", "could_not_resolve"),
        (Fault("timeout", "", "unresolved"), "disconnected", "could_not_resolve"),
        (Fault("timeout", "", "unreachable"), "disconnected", "unreachable"),
        (Fault("disconnected", "", "refused"), "disconnected", "could_not_connect"),
        (Fault("disconnected", "", "tls"), "disconnected", "tls_error"),
        (Fault("timeout", "", "timeout"), "timeout", "timeout"),
        (Fault("disconnected", "", "broken"), "disconnected", "broken_reply"),
        (Fault("malformed", "", "not_http"), "disconnected", "broken_reply"),
        (Fault("oversize", "", "oversize"), "oversize", "oversize"),
    ],
)
def test_failures_of_the_exchange_have_the_names_of_the_document(
    fault: Fault, kind: str, name: str
) -> None:
    expected = Fault(kind, f"round_{name}", fault.cause)  # type: ignore[arg-type]
    assert name_failure("round", fault) == expected


def test_the_seven_sanity_checks() -> None:
    assert sanity(None) == [True] * 7
    assert len(TEXTS) == len(FAILED_BY) == 7
    for number, names in enumerate(FAILED_BY):
        for name in names:
            checks = sanity(f"initiate_{name}")
            assert checks == [True] * number + [False] + [None] * (6 - number)
    for _, _, _, name in WRONG:
        assert False in sanity(name)


FIELDS = {"method": "create", "api_key": "0" * 32, "round": 0, "map": b'[{"x":1,"y":2}]', "W": 3}


def test_a_map_is_encoded_as_every_other_field() -> None:
    world = compact(creatures(EndOfCodes().new(3, 1, M=40)))
    assert encoded_map(world) == quote_plus(world)


def test_a_form_is_encoded_in_its_order() -> None:
    body = urlencoded(FIELDS, {"map": encoded_map(b'[{"x":1,"y":2}]')}).decode()
    assert [part.partition("=")[0] for part in body.split("&")] == list(FIELDS)
    assert parse_qs(body)["map"] == ['[{"x":1,"y":2}]']


def test_both_forms_are_read_alike() -> None:
    encoded = urlencoded(FIELDS, {"map": encoded_map(b'[{"x":1,"y":2}]')})
    parts = multipart(FIELDS)
    boundary = parts.split(b"\r\n")[0][2:].decode()
    kind = f"multipart/form-data; boundary={boundary}"
    message = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + parts)
    assert message.is_multipart()
    expected = {name: v.decode() if isinstance(v, bytes) else str(v) for name, v in FIELDS.items()}
    assert form(Request("POST", "/round", parts, {"Content-Type": kind})) == expected
    assert form(Request("POST", "/round", encoded)) == expected


def test_a_service_wants_its_key() -> None:
    make = STRATEGIES["sample"]
    settings = {"api_key": "1" * 32, "username": "alice"}
    service = EndOfCodesBotHandler(BotContext(lambda p: make(p, Random(1)), settings, lambda: 0.0))
    assert service.answer(Request("GET", f"/bot?api_key={'1' * 32}")).status == 200
    for path in ("/bot", "/bot?api_key=", f"/bot?api_key={'0' * 32}", "/bot?api_key=%C3%A9"):
        assert service.answer(Request("GET", path)).status == 403
    assert service.answer(Request("GET", f"/other?api_key={'1' * 32}")).status == 404
