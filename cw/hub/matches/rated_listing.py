"""The last rated matches of a bot, or of one version of its program."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.hub.matches.kinds import Kinds
from cw.hub.matches.listings import PER_PAGE
from cw.hub.matches.lookup import views_of
from cw.hub.matches.views import MatchView
from cw.hub.store.tables import Match, MatchParticipant
from cw.league.glicko2 import Rating

NARROWED: Final = 2000
"""The last matches of a bot among which those of a version are listed."""


def rated_matches_of(
    session: Session, kinds: Kinds, competition: int, bot: int, version: int = 0
) -> list[MatchView]:
    """Return the last rated matches of a bot that are over, the latest first, with its ratings.

    With the number of a version, those that it has played.
    """
    # A bot plays one match at a time, so they end in the order in which they were made, and its
    # own index leads from one to the next.
    played = session.execute(
        select(
            MatchParticipant.match_id,
            MatchParticipant.mu - 2 * MatchParticipant.phi,
            MatchParticipant.version,
        )
        .join(Match, Match.id == MatchParticipant.match_id)
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
    wanted = {
        match: shown
        for (match, _, by), shown in zip(played, before, strict=False)
        if version in (0, by)
    }
    ids = list(wanted)[:PER_PAGE]
    rows = session.scalars(select(Match).where(Match.id.in_(ids)).order_by(Match.id.desc())).all()
    views = views_of(session, kinds, rows)
    return [view.with_before({bot: wanted[row.id]}) for row, view in zip(rows, views, strict=True)]
