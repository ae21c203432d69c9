"""The vectors of AI Code Battle."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from typing import Any

from tests.kits.steps import SECRET, Step, Vector, compact, expect, request, vector

CONFIG = {"rows": 60, "cols": 60, "max_turns": 500, "vision_radius2": 49, "attack_radius2": 5}
CONFIG |= {"spawn_cost": 3, "energy_interval": 10}


def place(row: int, col: int, **more: Any) -> dict[str, Any]:
    return {"row": row, "col": col, "position": {"row": row, "col": col}} | more


def view(match_id: str, turn: int, tiles: list[tuple[int, int]]) -> dict[str, Any]:
    return {
        "match_id": match_id,
        "turn": turn,
        "config": CONFIG,
        "you": {"id": 0, "energy": 7, "score": 3},
        "bots": [*(place(*tile, owner=0) for tile in tiles), place(30, 30, owner=1)],
        "energy": [place(12, 9)],
        "cores": [place(5, 14, owner=0, active=True)],
        "walls": [place(10, 10)],
        "dead": [place(15, 17, owner=1)],
    }


def signed(match_id: str, turn: int | str, body: str, **more: Any) -> Step:
    """Describe a signed request; `offset` is added to the time, `headers` replace those made."""
    sign = {"match_id": match_id, "turn": str(turn), "offset": more.pop("offset", 0)}
    return request("POST", "/turn", body, sign=sign) | more


def turn_step(match_id: str, turn: int, tiles: list[tuple[int, int]], **more: Any) -> Step:
    step = signed(match_id, turn, compact(view(match_id, turn, tiles)), **more)
    return expect(step, orders=[list(tile) for tile in tiles])


def code_battle() -> Iterator[Vector]:
    yield vector("GET /health", [expect(request("GET", "/health"), json={"status": "ok"})])
    yield signature_example()
    yield vector(
        "turns of a match",
        [
            turn_step("m_7f3a9b2c", 0, [(10, 15)]),
            turn_step("m_7f3a9b2c", 1, [(10, 15), (0, 0), (59, 59)]),
            turn_step("m_7f3a9b2c", 42, [(row, col) for row in range(20) for col in range(25)]),
            turn_step("m_7f3a9b2c", 499, []),
        ],
    )
    yield vector(
        "two matches at once",
        [
            turn_step("m_00000001", 0, [(1, 1)]),
            turn_step("m_00000002", 0, [(2, 2)]),
            turn_step("m_00000001", 1, [(1, 2)]),
            turn_step("m_00000002", 1, [(2, 3)]),
        ],
    )
    yield vector(
        "more matches than are remembered",
        [turn_step(f"m_000001{number:02x}", 0, [(3, 3)]) for number in range(80)],
    )
    yield vector(
        "clocks that differ a little",
        [turn_step("m_0c10c000", 1, [(4, 4)], offset=offset) for offset in (-25, 25)],
    )
    yield vector("what is not signed", unsigned())
    yield vector("what is signed and wrong", wrong_bodies())
    elsewhere = signed("m_7f3a9b2c", 3, "{}")
    yield vector(
        "other paths",
        [
            expect(elsewhere | {"path": "/"}, 404),
            expect(elsewhere | {"path": "/turn/"}, 404),
            expect(elsewhere | {"path": "/health"}, 404),
            expect(request("GET", "/turn"), 404),
            expect(request("GET", "/healthy"), 404),
        ],
    )


def signature_example() -> Vector:
    """The document's example; too old to be sent, it tells what to compute."""
    body, reply = '{"turn":42}', '{"moves":[]}'
    text = f"m_7f3a9b2c.42.1711200000.{hashlib.sha256(body.encode()).hexdigest()}"
    back = f"m_7f3a9b2c.42.{hashlib.sha256(reply.encode()).hexdigest()}"
    signatures = {
        name: hmac.new(SECRET.encode(), message.encode(), hashlib.sha256).hexdigest()
        for name, message in (("request", text), ("reply", back))
    }
    headers = {"X-ACB-Timestamp": "1711200000", "X-ACB-Signature": signatures["request"]}
    step = signed("m_7f3a9b2c", 42, body, headers=headers)
    return vector("the document's example", [expect(step, 401, body="")]) | {
        "signatures": signatures
    }


def unsigned() -> list[Step]:
    body = compact(view("m_7f3a9b2c", 3, [(10, 15)]))
    right = "49ea321d6cd6cbc6406a7bcc4585921f0cc79107a9b3cbd51b8dd7515b347474"
    signatures = ["", "0", right, right[:-1], right + "0", right.upper(), "é" * 32, "x" * 64]
    signatures += ["a" * 4000, "%00%00", "=" * 64]
    wrong: list[dict[str, str | None]] = [{"X-ACB-Signature": text} for text in signatures]
    names = ("Match-Id", "Turn", "Timestamp", "Bot-Id", "Signature")
    wrong += [{f"X-ACB-{name}": None} for name in names]
    wrong += [{"X-ACB-Turn": text} for text in ("x", "-3", "3.0", "0x3", "4", "")]
    stamps = ("x", "", "1711200000", "-1", "99999999999999999999999", "17112e5")
    wrong += [{"X-ACB-Timestamp": text} for text in stamps]
    steps = [
        expect(signed("m_7f3a9b2c", 3, body, headers=headers), 401, body="") for headers in wrong
    ]
    late = [
        expect(signed("m_7f3a9b2c", 3, body, offset=offset), 401, body="")
        for offset in (-40, 40, -3600, 10**9)
    ]
    strange = [
        expect(signed("m_7f3a9b2c", turn, body), 401, body="") for turn in ("x", "-3", "3.0")
    ]
    unreadable = signed("m_7f3a9b2c", 3, "{", headers={"X-ACB-Signature": "0" * 64})
    return [*steps, *late, *strange, expect(unreadable, 401, body="")]


def wrong_bodies() -> list[Step]:
    bodies = ["", "{", "[]", "7", "null", '"x"', "{}", '{"turn":3}', '{"match_id":"m_7f3a9b2c"}']
    bodies += ['{"match_id":"m_7f3a9b2c","turn":4}', '{"match_id":"m_7f3a9b2d","turn":3}']
    bodies += ['{"match_id":"m_7f3a9b2c","turn":"3"}', '{"match_id":7,"turn":3}']
    return [expect(signed("m_7f3a9b2c", 3, body), 400, body="") for body in bodies]
