"""What the numbers of a map may be (document, "Start"), and how a wrong one is refused."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Final

from cw.errors import UsageError
from cw.games.rules import Json

RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "rows": (30, 120),
    "cols": (30, 120),
    "energy_nodes": (8, 50),
    "cores_per_player": (1, 2),
    "seed": (0, 2**63 - 1),
}
LEAST_DENSITY: Final = 0.05
MOST_DENSITY: Final = 0.30


def whole(name: str, value: Json) -> int:
    """Return a whole number back; raise UsageError unless it is within its range in RANGES."""
    low, high = RANGES[name]
    if type(value) is int and low <= value <= high:
        return value
    raise UsageError(f"{name}: {shown(value)} is not within {low}..{high}")


def density(value: Json) -> float:
    """Return a wall density back; raise UsageError unless it is a number within its range."""
    if type(value) in (int, float) and LEAST_DENSITY <= value <= MOST_DENSITY:
        return float(value)
    limits = f"{LEAST_DENSITY:.2f}..{MOST_DENSITY:.2f}"
    raise UsageError(f"wall_density: {shown(value)} is not within {limits}")


def shown(value: Json) -> str:
    """Print any value in a few words."""
    if type(value) is int and abs(value) >= 2**64:
        return "a huge number"
    return reprlib.repr(value)
