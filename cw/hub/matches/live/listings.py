"""Which matches are on now, the strongest first."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.hub.matches.kinds import Kinds
from cw.hub.matches.lookup import latest_to_watch, views_of
from cw.hub.matches.views import MatchView
from cw.hub.players.spectating import is_shown
from cw.hub.store.tables import Match

MOST: Final = 12
"""Matches that are listed."""


def running(session: Session, kinds: Kinds) -> list[MatchView]:
    """Return the matches that are played now and that all may see, the strongest first."""
    rows = (
        select(Match)
        .where(Match.state == "in_progress", Match.kind.not_in(kinds.private))
        .order_by(Match.level.desc().nulls_last(), Match.id)
        .limit(MOST)
    )
    return views_of(session, kinds, session.scalars(rows).all())


def on_now(session: Session, kinds: Kinds) -> tuple[MatchView | None, list[MatchView]]:
    """Return the match to watch, and all that are played now.

    It is the strongest that can be watched while it is played; without one the latest that is over.
    """
    matches = running(session, kinds)
    strongest = next((match for match in matches if is_shown(match.game)), None)
    return strongest or latest_to_watch(session, kinds), matches
