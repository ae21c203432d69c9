"""The match shown in the link preview of a bot or a competition."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Select, and_, select
from sqlalchemy.orm import Session

from cw_hub.matches.kinds import Kinds
from cw_hub.store.tables import Battle, Match, MatchParticipant

AMONG: Final = 50
"""Number of latest matches searched for one with a replay."""


def of_bot(session: Session, kinds: Kinds, bot: int) -> str | None:
    """Return the public id of a bot's last public match that has a replay, or None."""
    latest = (
        select(MatchParticipant.match_id)
        .where(MatchParticipant.bot_id == bot)
        .order_by(MatchParticipant.match_id.desc())
    )
    return with_replay(session, kinds, latest)


def of_competition(session: Session, kinds: Kinds, competition: int) -> str | None:
    """Return the public id of a competition's last match that has a replay, or None."""
    finished = (Match.competition_id == competition, Match.finished_at.is_not(None))
    latest = select(Match.id.label("match_id")).where(*finished).order_by(Match.finished_at.desc())
    return with_replay(session, kinds, latest)


def with_replay(session: Session, kinds: Kinds, latest: Select[int]) -> str | None:
    """Return the public id of the first public match in `latest` that has a replay, or None."""
    among = latest.limit(AMONG).subquery()
    replay = and_(Battle.match_id == Match.id, Battle.number == 1, Battle.pruned_at.is_(None))
    return session.scalar(
        select(Match.match_id)
        .join(among, among.c.match_id == Match.id)
        .join(Battle, replay)
        .where(Match.state == "done", Match.kind.not_in(kinds.private))
        .where(Battle.replay_key.is_not(None))
        .order_by(Match.finished_at.desc(), Match.id.desc())
        .limit(1)
    )
