"""Each bot's games and wins over a span of days: summed once per result."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from threading import Lock
from typing import Final, NamedTuple, TypeAlias

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from cw_hub.competitions.rated.ratings import DAY
from cw_hub.store.tables import MatchParticipant, RatingTotal

MOST: Final = 24
"""Maximum number of cached counts; with 10,000 bots they take about 50 MB."""


_OTHER = aliased(MatchParticipant)
WINNERS: Final = (
    select(func.count())
    .where(_OTHER.match_id == MatchParticipant.match_id, _OTHER.rank == 1)
    .correlate(MatchParticipant)
    .scalar_subquery()
)
"""The number of first places in a seat's match: one is a win, several are draws."""


class Count(NamedTuple):
    """A bot's game counts."""

    games: int
    wins: int

    @property
    def rate(self) -> float:
        """The fraction of games won."""
        return self.wins / self.games


Counts: TypeAlias = Mapping[int, Count]
"""By bot id; bots without a game are absent."""


class Span(NamedTuple):
    """The matches to count."""

    competition: int
    players: int
    """The number of players; 0: all."""
    since: int
    """The first day counted, in days since 1970; 0: all time."""


def first_day(now: datetime, days: int) -> int:
    """Return the first of a number of UTC days that end today, in days since 1970; 0 for 0."""
    return int(now.timestamp()) // DAY - days + 1 if days else 0


class WinCounts:
    """A cache of counts, shared by all threads of a process.

    Counts change only with their competition's revision, so those of the present one are valid.
    """

    def __init__(self) -> None:
        """Create an empty cache."""
        self._lock = Lock()
        self._cache: dict[Span, tuple[int, Counts]] = {}

    def of(self, session: Session, span: Span, revision: int) -> Counts:
        """Return the counts of a span at a revision of its competition.

        Concurrent callers both sum up, with the same result.
        """
        with self._lock:
            cache_revision, counts = self._cache.get(span, (None, {}))
        if cache_revision == revision:
            return counts
        counts = summed(session, span)
        if counts:  # Empty counts are fast, and would crowd others out.
            self._keep(span, revision, counts)
        return counts

    def _keep(self, span: Span, revision: int, counts: Counts) -> None:
        with self._lock:
            self._cache.pop(span, None)
            if len(self._cache) >= MOST:
                del self._cache[next(iter(self._cache))]
            self._cache[span] = revision, counts


def summed(session: Session, span: Span) -> Counts:
    """Sum up bots' games and wins from the rows."""
    of_days = RatingTotal.day >= span.since if span.since else RatingTotal.day == 0
    rows = session.execute(
        select(RatingTotal.bot_id, func.sum(RatingTotal.games), func.sum(RatingTotal.wins))
        .where(
            RatingTotal.competition_id == span.competition,
            RatingTotal.players == span.players,
            of_days,
        )
        .group_by(RatingTotal.bot_id)
    )
    return {bot: Count(int(games), int(wins)) for bot, games, wins in rows}
