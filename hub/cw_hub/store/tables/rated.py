"""The tables of rated competitions."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    Index,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from cw_hub.store.tables.base import (
    Base,
    BotId,
    CompetitionId,
    MatchId,
)


class Rating(Base):
    """The rating of a bot in a competition."""

    __tablename__ = "ratings"
    __table_args__ = (Index("ix_ratings_shown", "competition_id", text("(mu - 2 * phi)")),)

    competition_id: Mapped[CompetitionId] = mapped_column(primary_key=True)
    bot_id: Mapped[BotId] = mapped_column(primary_key=True, index=True)
    mu: Mapped[float] = mapped_column(default=1500.0)
    phi: Mapped[float] = mapped_column(default=350.0)
    sigma: Mapped[float] = mapped_column(default=0.06)
    crash_streak: Mapped[int] = mapped_column(default=0)
    last_match_at: Mapped[datetime | None]
    playing_id: Mapped[MatchId | None] = mapped_column(index=True)
    """The open match that the bot is reserved for."""


class RatingTotal(Base):
    """A summary of how often a bot has won, which can be rebuilt from the matches."""

    __tablename__ = "rating_totals"
    # The key is most of the row: SQLite stores rows in the order in which ranges are summed.
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - as SQLAlchemy has it

    competition_id: Mapped[CompetitionId] = mapped_column(primary_key=True)
    players: Mapped[int] = mapped_column(primary_key=True)
    """Number of players of the matches; 0 for any number."""
    day: Mapped[int] = mapped_column(primary_key=True)
    """Days since 1970 in UTC; 0 for all time."""
    bot_id: Mapped[BotId] = mapped_column(primary_key=True, index=True)
    games: Mapped[int] = mapped_column(default=0)
    wins: Mapped[int] = mapped_column(default=0)
    draws: Mapped[int] = mapped_column(default=0)
    losses: Mapped[int] = mapped_column(default=0)
