"""What passes between referee and bots: JSON as bots are sent it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cw.games.wire import compact


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
