"""What vectors are made of."""

from __future__ import annotations

import json
from typing import Any

API_KEY = "00112233445566778899aabbccddeeff"
SECRET = "0123456789abcdef" * 4

Step = dict[str, Any]
Vector = dict[str, Any]


def vector(name: str, steps: list[Step]) -> Vector:
    return {"name": name, "steps": steps}


def request(method: str, path: str, body: str | None = None, **more: Any) -> Step:
    step: Step = {"method": method, "path": path}
    if body is not None:
        step |= {"type": "application/json", "body": body}
    return step | more


def compact(document: Any) -> str:
    return json.dumps(document, separators=(",", ":"))


def expect(step: Step, status: int = 200, **reply: Any) -> Step:
    return {"request": step, "reply": {"status": status} | reply}
