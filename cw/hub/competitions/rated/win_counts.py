"""How many games each bot has played and won in a span of days: summed up once for each result."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from threading import Lock
from typing import Final, NamedTuple, TypeAlias

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from cw.hub.competitions.rated.ratings import DAY
from cw.hub.store.tables import MatchParticipant, RatingTotal

MOST: Final = 24
"""Counts that are remembered: with 10,000 bots they take about 50 MB."""


_OTHER = aliased(MatchParticipant)
WINNERS: Final = (
    select(func.count())
    .where(_OTHER.match_id == MatchParticipant.match_id, _OTHER.rank == 1)
    .correlate(MatchParticipant)
    .scalar_subquery()
)
"""How many were first in the match of a seat: who was so alone has won, others have drawn."""


class Count(NamedTuple):
    """What a bot has come to."""

    games: int
    wins: int

    @property
    def rate(self) -> float:
        """Won games, as a part of all."""
        return self.wins / self.games


Counts: TypeAlias = Mapping[int, Count]
"""By the ids of bots; those without a game are not there."""


class Span(NamedTuple):
    """Which matches count."""

    competition: int
    players: int
    """The number of players; 0: all."""
    since: int
    """The first day that counts, in days since 1970; 0: for ever."""


def first_day(now: datetime, days: int) -> int:
    """Return the first of so many days of UTC, the last of which is today; 0 for no days."""
    return int(now.timestamp()) // DAY - days + 1 if days else 0


class WinCounts:
    """Counts that were summed up lately; to be shared by all threads of a process.

    They change with a revision of their competition alone, so those of the present one hold.
    """

    def __init__(self) -> None:
        """Remember none."""
        self._lock = Lock()
        self._cache: dict[Span, tuple[int, Counts]] = {}

    def of(self, session: Session, span: Span, revision: int) -> Counts:
        """Return the counts of a span, at a revision of its competition.

        By two at once: both sum up, and find the same.
        """
        with self._lock:
            cache_revision, counts = self._cache.get(span, (None, {}))
        if cache_revision == revision:
            return counts
        counts = summed(session, span)
        if counts:  # Else it took no time, and spans without a match would crowd others out.
            self._keep(span, revision, counts)
        return counts

    def _keep(self, span: Span, revision: int, counts: Counts) -> None:
        with self._lock:
            self._cache.pop(span, None)
            if len(self._cache) >= MOST:
                del self._cache[next(iter(self._cache))]
            self._cache[span] = revision, counts


def summed(session: Session, span: Span) -> Counts:
    """Sum up what the bots have come to, from the rows."""
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
