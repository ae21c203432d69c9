"""A bot's rated matches, and its rating after each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.league.statistics.glicko2 import shown_rating
from cw_hub.matches.kinds import Kinds
from cw_hub.matches.listings import PER_PAGE, Cut, Part, cut_by_name, is_lost_since, of_bot
from cw_hub.matches.lookup import views_of, with_ratings
from cw_hub.matches.views import MatchView
from cw_hub.store.tables import Match, MatchParticipant

NARROWED: Final = 2000
"""Number of a bot's last matches searched for those of a version."""


@dataclass(frozen=True, slots=True)
class RatedPoint:
    """The rating of a bot after a match."""

    match_id: str
    at: datetime
    mu: float
    phi: float

    @property
    def shown_rating(self) -> float:
        """The shown rating."""
        return shown_rating(self.mu, self.phi)


def ratings_of_bot(session: Session, competition: int, bot: int, cut: Cut) -> Part[RatedPoint]:
    """Return a page of a bot's ratings after its rated matches, latest first."""
    columns = (Match.match_id, Match.finished_at, MatchParticipant.mu, MatchParticipant.phi)
    wanted = of_bot(select(*columns).select_from(Match), bot, cut)
    rated = wanted.where(Match.competition_id == competition, Match.seq.is_not(None))
    rows: list[Any] = list(session.execute(rated))
    return cut_by_name([RatedPoint(*row) for row in rows], cut, lambda point: point.match_id)


def rated_matches_of(  # noqa: PLR0913, PLR0917 - of which bot where, and which of them
    session: Session,
    kinds: Kinds,
    competition: int,
    bot: int,
    version: int = 0,
    lost_since: datetime | None = None,
) -> list[MatchView]:
    """Return the last finished rated matches of a bot, latest first, with all ratings.

    With a version number, only matches of that version; with a moment, only matches lost since
    then.
    """
    lost = () if lost_since is None else (is_lost_since(lost_since),)
    # The seats' index walks from one match of a bot to the next.
    played = session.execute(
        select(Match, MatchParticipant.version)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(
            MatchParticipant.bot_id == bot,
            Match.competition_id == competition,
            Match.seq.is_not(None),
            *lost,
        )
        .order_by(MatchParticipant.match_id.desc())
        .limit(NARROWED if version else PER_PAGE)
    ).all()
    matches = [match for match, by in played if version in (0, by)][:PER_PAGE]
    return with_ratings(session, views_of(session, kinds, matches, with_replays=False))
