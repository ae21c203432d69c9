"""Bots that can play a rated match now, and their recent opponents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Select, bindparam, func, select
from sqlalchemy.orm import Session

from cw.league import matchmaking
from cw.league.matchmaking import Candidate
from cw.league.statistics.glicko2 import shown_rating
from cw_hub.bots import house
from cw_hub.competitions.rated.settings import RatedSettings
from cw_hub.matches.challenges import turns
from cw_hub.store.tables import Bot, Competition, Match, MatchParticipant, Rating, RatingTotal, User

REMEMBERED: Final = 2000
"""Number of a bot's matches searched for its recent opponents."""


def eligible_bots(
    session: Session, competition: Competition, settings: RatedSettings, now: datetime
) -> Iterator[tuple[int, str, Candidate]]:
    """Yield the bots that can play now: row id, name, and pairing data.

    Bots of locked accounts are left out, and bots for which a challenge has waited long, until it
    has had its turn.
    """
    home = house.house_id(session)
    by_format, lately = (
        games_by_format(session, competition.id),
        games_since(session, competition.id, now - timedelta(days=1)),
    )
    # Select columns rather than objects: there may be ten thousand bots.
    of_bot = (Bot.id, Bot.bot_id, Bot.name, Bot.user_id, Bot.kind, Bot.healthy_at)
    rows: Iterable[Any] = session.execute(
        select(*of_bot, Rating.mu, Rating.phi, Rating.crash_streak, Rating.last_match_at)
        .join(Rating, Rating.bot_id == Bot.id)
        .outerjoin(User, User.id == Bot.user_id)
        .where(
            Rating.competition_id == competition.id,
            Rating.playing_id.is_(None),
            Bot.status == "ACTIVE",
            User.locked_at.is_(None),
            Bot.id.not_in(turns.overdue(session)),
        )
    )
    for row, bot_id, name, user, kind, healthy_at, mu, phi, crash_streak, last_match_at in rows:
        last = unix(last_match_at)
        may = matchmaking.eligible(
            now.timestamp(),
            status="ACTIVE",
            healthy_at=unix(healthy_at if kind == "url" else now),
            playing=False,
            crash_streak=crash_streak,
            last_match_at=last,
            rest=settings.rest,
        )
        if may:
            owner, games = None if user == home else str(user), by_format[row]
            rating = shown_rating(mu, phi)
            yield row, name, Candidate(bot_id, owner, rating, last, lately[row], games)


def unix(moment: datetime | None) -> float | None:
    """Return a moment in Unix seconds."""
    return None if moment is None else moment.timestamp()


def games_by_format(session: Session, competition: int) -> dict[int, Counter[int]]:
    """Return each bot's number of matches by number of players."""
    counts: defaultdict[int, Counter[int]] = defaultdict(Counter)
    rows = session.execute(
        select(RatingTotal.bot_id, RatingTotal.players, RatingTotal.games).where(
            RatingTotal.competition_id == competition,
            RatingTotal.players > 0,
            RatingTotal.day == 0,
        )
    )
    for bot, players, games in rows:
        counts[bot][players] = games
    return counts


def games_since(session: Session, competition: int, moment: datetime) -> Counter[int]:
    """Return each bot's number of matches since a moment."""
    rows = session.execute(
        select(MatchParticipant.bot_id, func.count())
        .join(Match, Match.id == MatchParticipant.match_id)
        .where(
            Match.competition_id == competition,
            Match.finished_at > moment,
            Match.state == "done",
        )
        .group_by(MatchParticipant.bot_id)
    )
    return Counter({bot: games for bot, games in rows if bot is not None})


def last_matches() -> Select[str, datetime]:
    """Build the query of `last_met`."""
    matches_, seats, bots = Match.__table__, MatchParticipant.__table__, Bot.__table__
    its = (
        select(seats.c.match_id)
        .join(matches_, matches_.c.id == seats.c.match_id)
        .where(
            seats.c.bot_id == bindparam("bot"),
            matches_.c.competition_id == bindparam("competition"),
        )
        .order_by(seats.c.match_id.desc())
        .limit(REMEMBERED)
        .subquery()
    )
    return (
        select(bots.c.bot_id, func.max(matches_.c.at))
        .select_from(its)
        .join(matches_, matches_.c.id == its.c.match_id)
        .join(seats, seats.c.match_id == matches_.c.id)
        .join(bots, bots.c.id == seats.c.bot_id)
        .where(seats.c.bot_id != bindparam("bot"), matches_.c.state != "void")
        .group_by(bots.c.bot_id)
    )


LAST_MET: Final = last_matches()
"""Built once, because a tick runs it for each match that it makes."""


def last_met(session: Session, bot: int, competition: int) -> dict[str, float]:
    """Return when a bot last met each of its recent opponents, in Unix seconds."""
    rows = session.execute(LAST_MET, {"bot": bot, "competition": competition})
    return {bot_id: at.timestamp() for bot_id, at in rows}
