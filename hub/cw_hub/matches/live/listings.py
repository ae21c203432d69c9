"""The matches in progress, the strongest first."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw_hub.matches.kinds import Kinds
from cw_hub.matches.lookup import latest_to_watch, views_of
from cw_hub.matches.views import MatchView
from cw_hub.players.spectating import is_shown
from cw_hub.store.tables import Match

MOST: Final = 12
"""Maximum number of matches listed."""


def running(session: Session, kinds: Kinds) -> list[MatchView]:
    """Return the public matches in progress, the strongest first."""
    rows = (
        select(Match)
        .where(Match.state == "in_progress", Match.kind.not_in(kinds.private))
        .order_by(Match.level.desc().nulls_last(), Match.id)
        .limit(MOST)
    )
    return views_of(session, kinds, session.scalars(rows).all())


def on_now(session: Session, kinds: Kinds) -> tuple[MatchView | None, list[MatchView]]:
    """Return the match to watch, and all matches in progress.

    The match to watch is the strongest that can be watched live, otherwise the latest finished one.
    """
    matches = running(session, kinds)
    strongest = next((match for match in matches if is_shown(match.game)), None)
    return strongest or latest_to_watch(session, kinds), matches
