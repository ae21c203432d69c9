"""The ranges of the numbers of a map (rule book, "Start"), and their error messages."""

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
"""Name -> lowest and highest value."""

LEAST_DENSITY: Final = 0.05
MOST_DENSITY: Final = 0.30
"""The range of the share of tiles that are walls."""


def whole(name: str, value: Json) -> int:
    """Return the value if it is a whole number in its range, otherwise raise UsageError."""
    low, high = RANGES[name]
    if type(value) is int and low <= value <= high:
        return value
    raise UsageError(f"{name}: {short_text(value)} is not within {low}..{high}")


def density(value: Json) -> float:
    """Return the value as a wall density; raise UsageError unless it is a number in range."""
    if type(value) in (int, float) and LEAST_DENSITY <= value <= MOST_DENSITY:
        return float(value)
    limits = f"{LEAST_DENSITY:.2f}..{MOST_DENSITY:.2f}"
    raise UsageError(f"wall_density: {short_text(value)} is not within {limits}")


def short_text(value: Json) -> str:
    """Return a short representation of any value, for error messages."""
    if type(value) is int and abs(value) >= 2**64:
        return "a huge number"
    return reprlib.repr(value)
