"""How many cases a test tries: fewer in the fast suite than in all tests."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet

THOROUGH = bool(os.environ.get("CW_THOROUGH"))


def amount(fast: int, thorough: int, variable: str = "") -> int:
    """Return how many cases a test tries; an environment variable may say otherwise."""
    return int(os.environ.get(variable, thorough if THOROUGH else fast))


def first_is_fast(values: Iterable[object]) -> list[ParameterSet]:
    """Return parameters of which the fast suite has the first alone."""
    first, *others = (value if isinstance(value, tuple) else (value,) for value in values)
    thorough = (pytest.param(*value, marks=pytest.mark.thorough) for value in others)
    return [pytest.param(*first), *thorough]
