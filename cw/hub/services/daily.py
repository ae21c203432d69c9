"""What daily games have brought."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.hub.store.tables import Bot, Match, MatchParticipant


def last_rank(session: Session, user_id: int) -> int | None:
    """Return a user's rank in the last daily game that was ranked, None if there is none."""
    last = (
        select(Match.id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(Match.kind == "daily", Match.state == "done", MatchParticipant.rank.is_not(None))
        .order_by(Match.at.desc(), Match.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    rank = (
        select(MatchParticipant.rank)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(MatchParticipant.match_id == last, Bot.user_id == user_id)
    )
    return session.scalar(rank)
