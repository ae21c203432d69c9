"""Documents that are nearly right: one of their values is another, gone, or there twice."""

from __future__ import annotations

import json
import os
from copy import deepcopy
from random import Random
from typing import Any

CASES = int(os.environ.get("CW_CASES", "0"))
"""Mutated documents that a campaign tries in each game, 0 for the few of the usual test run."""

DEEP: Any = []
for _ in range(60):
    DEEP = [DEEP]

NASTY: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    31,
    1.0,
    1.5,
    1e308,
    2**31,
    2**53,
    2**63 - 1,
    2**63,
    2**64,
    -(2**63) - 1,
    10**30,
    "",
    "0",
    "1",
    "self",
    "\x1b[31mred\x07",
    "[bold]",
    "\u2028\u202e",
    "x" * 5000,
    [],
    {},
    [[]],
    [None],
    {"self": 1},
    {"fault": "timeout"},
    {"fault": "hunger"},
    {"row": 0, "col": 0},
    DEEP,
)

BYTES = (b"\xff", b"\x00", b"\\ud800", b"1e999", b'"', b"{", b"]", b",", b"9" * 40, b"NaN", b"\n")
"""Bytes that break a text."""

Path = tuple[Any, ...]


def nasty(rng: Random) -> Any:
    """Draw a value that comes from somewhere else."""
    return deepcopy(rng.choice(NASTY))


def places(document: Any, path: Path = ()) -> list[Path]:
    """Return the paths of all values in a document."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(document, dict):
        inner = list(document.items())
    elif isinstance(document, list):
        inner = list(enumerate(document))
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


def mutated(rng: Random, document: Any) -> Any:
    """Return a document in which one to three values were changed."""
    document = json.loads(json.dumps(document))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        document = changed(rng, document)
    return document


def changed(rng: Random, document: Any) -> Any:
    """Change one value of a document in place; return it."""
    all_places = places(document)
    *above, last = rng.choice(all_places) or [None]
    if last is None:
        return document if len(all_places) > 1 else nasty(rng)
    holder = document
    for key in above:
        holder = holder[key]
    match rng.randrange(6):
        case 0:
            del holder[last]
        case 1 if isinstance(holder, dict):
            holder[rng.choice(("self", "seed", "fault", "", "\x1b[2J"))] = nasty(rng)
        case 1:
            holder.insert(last, holder[last])
        case 2 if isinstance(holder[last], int):
            holder[last] += rng.choice((1, -1, 7, 2**40, -(2**40)))
        case _:
            holder[last] = nasty(rng)
    return document


def broken(rng: Random, text: bytes) -> bytes:
    """Return bytes in which some were changed, cut out or put in."""
    at = rng.randrange(len(text) + 1)
    match rng.randrange(4):
        case 0:
            return text[:at]
        case 1:
            return text[:at] + rng.choice(BYTES) + text[at:]
        case 2:
            return text[:at] + text[at + rng.randrange(1, 9) :]
    return text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]


def spoiled(rng: Random, document: Any) -> bytes:
    """Return the text of a mutated document, or a broken text."""
    if rng.random() < 0.8:
        return json.dumps(mutated(rng, document)).encode()
    return broken(rng, json.dumps(document).encode())
