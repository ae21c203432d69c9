"""The rated matches of one bot, and its rating after each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.hub.matches.kinds import Kinds
from cw.hub.matches.listings import PER_PAGE, Cut, Part, cut_by_name, of_bot
from cw.hub.matches.lookup import views_of
from cw.hub.matches.views import MatchView
from cw.hub.store.tables import Match, MatchParticipant
from cw.league.glicko2 import Rating

NARROWED: Final = 2000
"""The last matches of a bot among which those of a version are listed."""


@dataclass(frozen=True, slots=True)
class RatedPoint:
    """The rating of a bot after a match."""

    match_id: str
    at: datetime
    mu: float
    phi: float

    @property
    def shown(self) -> float:
        """The shown rating."""
        return self.mu - 2 * self.phi


def ratings_of_bot(session: Session, competition: int, bot: int, cut: Cut) -> Part[RatedPoint]:
    """Return a part of the ratings of a bot, after each of its rated matches, the latest first."""
    columns = (Match.match_id, Match.finished_at, MatchParticipant.mu, MatchParticipant.phi)
    wanted = of_bot(select(*columns).select_from(Match), bot, cut)
    rated = wanted.where(Match.competition_id == competition, Match.seq.is_not(None))
    rows: list[Any] = list(session.execute(rated))
    return cut_by_name([RatedPoint(*row) for row in rows], cut, lambda point: point.match_id)


def rated_matches_of(
    session: Session, kinds: Kinds, competition: int, bot: int, version: int = 0
) -> list[MatchView]:
    """Return the last rated matches of a bot that are over, the latest first, with its ratings.

    With the number of a version, those that it has played.
    """
    # A bot plays one match at a time, so they end in the order in which they were made, and its
    # own index leads from one to the next.
    played = session.execute(
        select(Match, MatchParticipant.mu - 2 * MatchParticipant.phi, MatchParticipant.version)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(
            MatchParticipant.bot_id == bot,
            Match.competition_id == competition,
            Match.seq.is_not(None),
        )
        .order_by(MatchParticipant.match_id.desc())
        .limit(NARROWED if version else PER_PAGE + 1)
    ).all()
    unrated = Rating().shown
    before = [*(unrated if shown is None else shown for _, shown, _ in played[1:]), unrated]
    chosen = [
        (match, shown)
        for (match, _, by), shown in zip(played, before, strict=False)
        if version in (0, by)
    ][:PER_PAGE]
    views = views_of(session, kinds, [match for match, _ in chosen])
    return [view.with_before({bot: shown}) for view, (_, shown) in zip(views, chosen, strict=True)]
