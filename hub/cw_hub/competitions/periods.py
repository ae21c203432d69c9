"""Selectable periods of charts over time."""

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
"""Label and length of each period, by its name in addresses."""
