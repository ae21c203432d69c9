"""How many cases a test tries: fewer in the fast suite than in all tests."""

from __future__ import annotations

import os

THOROUGH = bool(os.environ.get("CW_THOROUGH"))


def amount(fast: int, thorough: int, variable: str = "") -> int:
    """Return how many cases a test tries; an environment variable may say otherwise."""
    return int(os.environ.get(variable, thorough if THOROUGH else fast))
