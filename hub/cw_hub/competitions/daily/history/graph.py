"""The graph of a player's ranks: its points and periods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from cw_hub.competitions.daily.history import lookup
from cw_hub.competitions.daily.history.lookup import BEGINNING, Point
from cw_hub.competitions.periods import PERIODS
from cw_hub.pages.request import resources

DEFAULT: Final = "10d"
ALWAYS: Final = (DEFAULT, "all")


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph as initially shown."""

    points: Sequence[Point]
    """Points of the last 10 days."""
    periods: Mapping[str, str]
    """The selectable periods."""


def graph_of(session: Any, game: str, user_id: int) -> Graph:
    """Return the graph of a user."""
    now = resources().clock()
    first = lookup.first_played(session, game, user_id)
    return Graph(points_of(session, game, user_id, DEFAULT), offered(first, now))


def offered(first: datetime | None, now: datetime) -> dict[str, str]:
    """Return the selectable periods: those for which a player has been active long enough."""
    return {
        name: words
        for name, (words, length) in PERIODS.items()
        if name in ALWAYS or (first and length and now - first >= length)
    }


def points_of(session: Any, game: str, user_id: int, period: str) -> list[Point]:
    """Return the points of a period."""
    length = PERIODS[period][1]
    since = BEGINNING if length is None else resources().clock() - length
    return lookup.points(session, game, user_id, since)
