"""Rated matches in digest mails: results, rating change, and lost matches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session, aliased

from cw.hub.accounts.news.digests import Period
from cw.hub.competitions.digest import counted, tally
from cw.hub.competitions.rated.win_counts import WINNERS
from cw.hub.store.tables import Bot, Competition, Match, MatchParticipant
from cw.league.statistics.glicko2 import Rating

MOST_LOST: Final = 5
"""Maximum number of links to lost matches per bot, latest first."""


@dataclass(frozen=True, slots=True)
class BotResults:
    """A bot's results in a rated competition over a period."""

    bot: int
    name: str
    competition: int
    title: str
    """The competition's title."""
    games: int
    wins: int
    firsts: int
    """Matches in which it finished first, alone or tied."""

    def results(self) -> str:
        """Return the results as text."""
        return tally(self.wins, self.firsts - self.wins, self.games - self.firsts)


def digest(session: Session, address: str, user_id: int, period: Period) -> Iterator[str]:
    """Yield a paragraph for each of a user's bots that has played."""
    for bot in results(session, user_id, period):
        before = shown_rating(session, bot, Match.finished_at <= period.since)
        after = shown_rating(session, bot, Match.finished_at <= period.until)
        change = f"Rating {before} -> {after} ({after - before:+})."
        games = f"{bot.name}, {bot.title}: {counted(bot.games, 'match')}"
        yield "\n".join(
            (f"{games}, {bot.results()}. {change}", *lost(session, address, bot, period))
        )


def results(session: Session, user_id: int, period: Period) -> list[BotResults]:
    """Return the results of a user's bots, by name."""
    own = MatchParticipant
    played = (
        select(own.bot_id, Match.competition_id, own.rank, WINNERS.label("winners"))
        .join(Match, Match.id == own.match_id)
        .join(Bot, Bot.id == own.bot_id)
        .where(Bot.user_id == user_id, *is_rated_in(period))
        .subquery()
    )
    is_first = played.c.rank == 1
    rows = session.execute(
        select(Bot.id, Bot.name, Competition.id, Competition.title, func.count())
        .add_columns(func.count().filter(is_first, played.c.winners == 1))
        .add_columns(func.count().filter(is_first))
        .join(played, played.c.bot_id == Bot.id)
        .join(Competition, Competition.id == played.c.competition_id)
        .group_by(Bot.id, Bot.name, Competition.id, Competition.title)
        .order_by(Bot.name, Competition.id)
    )
    return [BotResults(*row) for row in rows]


def is_rated_in(period: Period) -> tuple[ColumnElement[bool], ...]:
    """Return the SQL conditions for matches rated in a period."""
    ended = Match.finished_at
    return (Match.seq.is_not(None), ended > period.since, ended <= period.until)


def shown_rating(session: Session, bot: BotResults, played: ColumnElement[bool]) -> int:
    """Return a bot's rounded shown rating after the last of the given matches."""
    row: Any = session.execute(
        select(MatchParticipant.mu, MatchParticipant.phi)
        .join(Match, Match.id == MatchParticipant.match_id)
        .where(MatchParticipant.bot_id == bot.bot, Match.competition_id == bot.competition)
        .where(Match.seq.is_not(None), played)
        .order_by(Match.seq.desc())
        .limit(1)
    ).one_or_none()
    return round((Rating(row.mu, row.phi) if row else Rating()).shown_rating)


def lost(session: Session, address: str, bot: BotResults, period: Period) -> Iterator[str]:
    """Yield a line with a link for each of a bot's latest lost matches."""
    own, winner = MatchParticipant, aliased(MatchParticipant)
    matches = (
        select(Match.match_id, func.min(winner.name).label("name"))
        .join(own, own.match_id == Match.id)
        .join(winner, and_(winner.match_id == Match.id, winner.rank == 1))
        .where(own.bot_id == bot.bot, own.rank > 1, Match.competition_id == bot.competition)
        .where(*is_rated_in(period))
        .group_by(Match.id, Match.match_id)
        .order_by(Match.id.desc())
        .limit(MOST_LOST)
    )
    for match in session.execute(matches):
        yield f"Lost to {match.name}: {address}/match/{match.match_id}"
