"""What a leaderboard shows beside ratings: trends, the last results, and the house bots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from cw.hub.accounts.people import HOUSE
from cw.hub.competitions.rated.standings import RATING, listed
from cw.hub.competitions.verbs import CompetitionFacts
from cw.hub.store.tables import Bot, Match, MatchParticipant, User
from cw.league.statistics.glicko2 import Rating

RESULTS: Final = 5
"""Last results of a bot that are shown, and matches over which its trend is."""

LATEST: Final = 500
"""Matches of a competition that are looked at: who has not played among them has no trend."""

Result: TypeAlias = Literal["won", "drawn", "lost"]


@dataclass(frozen=True, slots=True)
class Recent:
    """How a bot has done lately."""

    results: Sequence[Result] = ()
    """The latest first."""
    trend: int | None = None
    """What its shown rating has gained over these matches; None if it is not known."""


NOTHING_YET: Final = Recent()


class HouseBot(NamedTuple):
    """A bot of the site itself that is on a leaderboard: a mark to pass."""

    name: str
    shown_rating: float


@dataclass(frozen=True, slots=True)
class Beside:
    """What the rows of a leaderboard show beside their ratings."""

    recent: Mapping[int, Recent]
    """By the ids of bots."""
    house: Sequence[HouseBot]
    """The weakest first."""

    def recent_of(self, bot: int) -> Recent:
        """Return how a bot has done lately."""
        return self.recent.get(bot, NOTHING_YET)

    def passed_by(self, shown_rating: float) -> list[str]:
        """Return the names of the house bots that a rating is above."""
        return [bot.name for bot in self.house if bot.shown_rating < shown_rating]


def beside(session: Session, competition: CompetitionFacts, bots: Sequence[int]) -> Beside:
    """Return what the rows of some bots show: two statements, however long they have played."""
    return Beside(recent(session, competition, bots), house_bots(session, competition.id))


def house_bots(session: Session, competition: int) -> list[HouseBot]:
    """Return the listed house bots of a competition, the weakest first."""
    rows = listed(competition, Bot.name, RATING).join(User, User.id == Bot.user_id)
    own = session.execute(rows.where(User.username_key == HOUSE).order_by(RATING))
    return [HouseBot(*row) for row in own]


def recent(
    session: Session, competition: CompetitionFacts, bots: Sequence[int]
) -> dict[int, Recent]:
    """Return by bot how some bots have done in the latest matches of a competition."""
    own, other = MatchParticipant, aliased(MatchParticipant)
    winners = (
        select(func.count())
        .where(other.match_id == own.match_id, other.rank == 1)
        .correlate(own)
        .scalar_subquery()
    )
    rows = session.execute(
        select(own.bot_id, own.rank, own.mu, own.phi, winners.label("winners"))
        .join(Match, Match.id == own.match_id)
        .where(Match.competition_id == competition.id, Match.seq > competition.last_seq - LATEST)
        .where(own.bot_id.in_(bots))
        .order_by(own.bot_id, Match.seq.desc())
    )
    by_bot = groupby(rows, key=lambda row: row.bot_id)
    return {bot: recent_in(seats) for bot, seats in by_bot}


def recent_in(seats: Iterable[Any]) -> Recent:
    """Return how a bot has done by its seats, the latest first."""
    latest = list(seats)[: RESULTS + 1]
    ratings = [Rating(seat.mu, seat.phi).shown_rating for seat in latest if seat.mu is not None]
    trend = round(ratings[0]) - round(ratings[-1]) if len(ratings) > 1 else None
    return Recent([result_of(seat.rank, seat.winners) for seat in latest[:RESULTS]], trend)


def result_of(rank: int, winners: int) -> Result:
    """Return what a rank means where so many are first."""
    if rank > 1:
        return "lost"
    return "won" if winners == 1 else "drawn"
