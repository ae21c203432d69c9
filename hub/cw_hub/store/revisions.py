"""Revision numbers of competitions, with which their pages and ETags change."""

from __future__ import annotations

from sqlalchemy import ColumnElement, select, update

from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, Rating


def show_anew(session: Session, of_bots: ColumnElement[bool]) -> None:
    """Increment the revision of all competitions that rate the bots matching a condition."""
    affected = select(Rating.competition_id).join(Bot, Bot.id == Rating.bot_id).where(of_bots)
    change = update(Competition).where(Competition.id.in_(affected))
    session.execute(change.values(revision=Competition.revision + 1))
