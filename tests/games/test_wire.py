"""What passes between referee and bots: JSON as bots are sent it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cw.errors import ProtocolError
from cw.games.wire import DEEPEST, compact, read_json


@pytest.mark.parametrize(
    "document",
    [
        {"row": [1, -2.5, True, None], "ids": {1: "a"}, "pair": (1, 2), "big": 2**70},
        {"name": 'Zoë \\ " \n \x00'},
        {"name": "half a pair: \ud800"},
    ],
)
def test_what_bots_are_sent_is_ascii_without_blanks(document: Any) -> None:
    printed = compact(document)
    assert printed.isascii()
    assert printed == json.dumps(document, separators=(",", ":")).encode()


@pytest.mark.parametrize(("left", "right"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_a_reply_is_nested_so_deeply_and_no_deeper(left: bytes, right: bytes) -> None:
    fine = left * DEEPEST + b"0" + right * DEEPEST
    assert read_json(fine) == json.loads(fine)
    for more in (1, 100_000):
        deep = DEEPEST + more
        with pytest.raises(ProtocolError):
            read_json(left * deep + b"0" + right * deep)
    flat = b"[" + b"[]," * (2 * DEEPEST) + b"0]"
    assert read_json(flat) == json.loads(flat)
