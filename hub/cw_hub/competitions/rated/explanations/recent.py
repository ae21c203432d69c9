"""Leaderboard data besides ratings: trends, latest results, and house bots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from cw.league.statistics.glicko2 import Rating
from cw_hub.accounts.people import HOUSE
from cw_hub.competitions.rated.standings import RATING, listed
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.store.tables import Bot, Match, MatchParticipant, User

RESULTS: Final = 5
"""Number of latest results shown per bot, and of matches that its trend covers."""

LATEST: Final = 500
"""Number of a competition's matches considered; bots without a match among them have no trend."""

Result: TypeAlias = Literal["won", "drawn", "lost"]


@dataclass(frozen=True, slots=True)
class Recent:
    """A bot's recent form."""

    results: Sequence[Result] = ()
    """Latest first."""
    trend: int | None = None
    """Change of the shown rating over these matches; None if unknown."""


NOTHING_YET: Final = Recent()


class HouseBot(NamedTuple):
    """A house bot on the leaderboard: a mark to pass."""

    name: str
    shown_rating: float


@dataclass(frozen=True, slots=True)
class Beside:
    """What leaderboard rows show besides ratings."""

    recent: Mapping[int, Recent]
    """By bot id."""
    house: Sequence[HouseBot]
    """Weakest first."""

    def recent_of(self, bot: int) -> Recent:
        """Return a bot's recent form."""
        return self.recent.get(bot, NOTHING_YET)

    def passed_by(self, shown_rating: float) -> list[str]:
        """Return the names of the house bots below a rating."""
        return [bot.name for bot in self.house if bot.shown_rating < shown_rating]


def beside(session: Session, competition: CompetitionFacts, bots: Sequence[int]) -> Beside:
    """Return the extra data of some bots' rows, in two statements however long their history."""
    return Beside(recent(session, competition, bots), house_bots(session, competition.id))


def house_bots(session: Session, competition: int) -> list[HouseBot]:
    """Return a competition's listed house bots, weakest first."""
    rows = listed(competition, Bot.name, RATING).join(User, User.id == Bot.user_id)
    own = session.execute(rows.where(User.username_key == HOUSE).order_by(RATING))
    return [HouseBot(*row) for row in own]


def recent(
    session: Session, competition: CompetitionFacts, bots: Sequence[int]
) -> dict[int, Recent]:
    """Return the recent form of some bots in a competition, by bot."""
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
    """Return a bot's form from its seats, latest first."""
    latest = list(seats)[: RESULTS + 1]
    ratings = [Rating(seat.mu, seat.phi).shown_rating for seat in latest if seat.mu is not None]
    trend = round(ratings[0]) - round(ratings[-1]) if len(ratings) > 1 else None
    return Recent([result_of(seat.rank, seat.winners) for seat in latest[:RESULTS]], trend)


def result_of(rank: int, winners: int) -> Result:
    """Return the result of a rank, given the number of winners."""
    if rank > 1:
        return "lost"
    return "won" if winners == 1 else "drawn"
