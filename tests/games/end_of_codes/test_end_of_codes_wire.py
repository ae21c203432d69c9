"""Every fault of the document over the real wire: many bots at one server, each wrong once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.matches.playing import play_match

LATE = 2
"""Rounds that every bot answers well."""


def intent(**changes: Any) -> dict[str, Any]:
    return {"creatureid": 0, "action": "attack", "direction": "north"} | changes


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in intent().items() if key != name}


def intents(*entries: Any) -> dict[str, Any]:
    return {"intent": list(entries)}


ROUND: dict[str, tuple[str, Any]] = {
    "http_code_not_ok": ("crashed", 500),
    "broken_reply": ("disconnected", None),
    "oversize": ("oversize", b" " * 300_000),
    "invalid_json": ("malformed", b"{"),
    "error_key": ("crashed", {"error": "full"}),
    "intent_not_set": ("malformed", {"intent": None}),
    "additional_data": ("malformed", {"intent": [], "fault": "timeout"}),
    "wrong_type": ("malformed", {"intent": {}}),
    "response_not_object": ("malformed", intents(7)),
    "creatureid_not_set": ("malformed", intents(without("creatureid"))),
    "direction_not_set": ("malformed", intents(without("direction"))),
    "action_not_set": ("malformed", intents(without("action"))),
    "intent_additional_data": ("malformed", intents(intent(hat=1))),
    "invalid_creatureid": ("illegal", intents(intent(creatureid=2**63))),
    "intent_not_own_creature": ("illegal", intents(intent(creatureid=-1))),
    "action_invalid": ("illegal", intents(intent(action="JUMP"))),
    "direction_invalid": ("illegal", intents(intent(direction="up"))),
    "intent_duplicate": ("illegal", intents(intent(), intent())),
}
"""What a bot answers to a late /round, by the name of the fault without `round_`.

A creatureid of 0 stands for its own creature, -1 for one of somebody else.
"""

GAME: dict[str, tuple[str, Any]] = {
    "additional_data": ("malformed", {"ok": True}),
    "error_key": ("crashed", {"error": "full"}),
}
HELLO = {"botname": "b", "version": "1", "username": ""}
BOT: dict[str, Any] = {
    "http_code_not_ok": 404,
    "invalid_json": b"null",
    "botname_not_set": [],
    "version_not_set": {"botname": "b"},
    "username_not_set": {"botname": "b", "version": "1"},
    "wrong_type": {"botname": "b", "version": 1, "username": ""},
    "additional_data": HELLO | {"hat": 1},
    "username_mismatch": HELLO | {"username": "other"},
}
STRANGE: dict[str, tuple[str, Any]] = {
    "half_a_pair": ("invalid_json", b'{"intent":[{"creatureid":1,"action":"\\ud800"}]}'),
    "half_a_key": ("invalid_json", b'{"intent":[],"\\udfff":1}'),
    "endless": ("invalid_json", b'{"intent":[{"creatureid":1e999}]}'),
    "deep": ("invalid_json", b'{"intent":' + b"[" * 900 + b"]" * 900 + b"}"),
    "claims": ("intent_not_set", {"fault": "timeout"}),
    "unknown_claim": ("intent_not_set", {"fault": "hunger"}),
}
"""Replies that are hard to write down, and the name of the fault that they are."""


def answer(path: str, form: dict[str, list[str]]) -> Any:
    """Return what the bot of a path answers."""
    _, where, name, request = path.split("?", maxsplit=1)[0].split("/")
    if request == "bot":
        reply = BOT[name] if where == "initiate" else HELLO
        if isinstance(reply, dict) and reply.get("username") == "":
            reply = reply | {"username": f"{where}_{name}"}
        return reply
    if request == "game":
        return GAME[name][1] if where == "game" else []
    if where in ("round", "strange") and int(form["round"][0]) >= LATE:
        reply = (ROUND if where == "round" else STRANGE)[name][1]
        return owned(reply, json.loads(form["map"][0]), int(form["myid"][0]))
    return {"intent": []}


def owned(reply: Any, world: list[dict[str, int]], me: int) -> Any:
    """Put the ids of creatures where the table has 0 and -1."""
    if not isinstance(reply, dict) or not isinstance(reply.get("intent"), list):
        return reply
    ids = {
        0: next(c["creatureid"] for c in world if c["userid"] == me),
        -1: next(c["creatureid"] for c in world if c["userid"] != me),
    }
    return reply | {"intent": [with_id(one, ids) for one in reply["intent"]]}


def with_id(one: Any, ids: dict[int, int]) -> Any:
    if not isinstance(one, dict) or "creatureid" not in one:
        return one
    return one | {"creatureid": ids.get(one["creatureid"], one["creatureid"])}


class Bots(BaseHTTPRequestHandler):
    """All bots, by the first part of the path."""

    def do_GET(self) -> None:
        self.give(answer(self.path, {}))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.give(answer(self.path, parse_qs(body.decode())))

    def give(self, reply: Any) -> None:
        if reply is None:
            return
        body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(reply if isinstance(reply, int) else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Bots) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def told_of(address: str, where: str, names: list[str]) -> dict[str, list[tuple[int, str, str]]]:
    """Play all these bots in one game; return by name what is told: turn, kind and detail."""
    bots = [f"{where}_{name}={address}/{where}/{name}" for name in names]
    options = {"M": 2, "MAX_HP": 9, "max_rounds": 6}
    result = play_match("end-of-codes", ["builtin:idle", *bots, "builtin:idle"], 4, options).result
    return {
        name: [(fault.turn, fault.kind, fault.detail) for fault in result.faults_of(number)]
        for number, name in enumerate(names, start=1)
    }


def test_every_fault_of_a_round_has_its_name(address: str) -> None:
    faults = told_of(address, "round", list(ROUND))
    for name, (kind, _) in ROUND.items():
        assert [fault[:2] for fault in faults[name]] == [(LATE, kind)], name
        detail = faults[name][0][2]
        assert detail.startswith(f"round_{name}: "), detail


def test_every_fault_before_the_first_round_has_its_name(address: str) -> None:
    faults = told_of(address, "game", list(GAME))
    for name, (kind, _) in GAME.items():
        ((turn, fault_kind, detail),) = faults[name]
        assert (turn, fault_kind) == (0, kind)
        assert detail.startswith(f"game_{name}: ")
    faults = told_of(address, "initiate", list(BOT))
    for name in BOT:
        ((turn, fault_kind, detail),) = faults[name]
        assert (turn, fault_kind) == (0, "startup")
        assert detail.startswith(f"initiate_{name}: "), detail


def test_replies_that_cannot_be_written_down_end_nothing(address: str) -> None:
    faults = told_of(address, "strange", list(STRANGE))
    for name, (error, _) in STRANGE.items():
        assert [fault[:2] for fault in faults[name]] == [(LATE, "malformed")], name
        assert faults[name][0][2].startswith(f"round_{error}: ")
