"""The periods that charts over time can be limited to."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

PERIODS: Final[Mapping[str, tuple[str, timedelta | None]]] = {
    "10d": ("Last 10 days", timedelta(days=10)),
    "1m": ("Last month", timedelta(days=30)),
    "6m": ("Last 6 months", timedelta(days=182)),
    "1y": ("Last year", timedelta(days=365)),
    "all": ("All time", None),
}
"""By their name in addresses: what they are called, and how long they are."""
