"""The accounts of a site as admins find them: whether they are locked, and where they are in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from cw.hub.accounts.people import HOUSE
from cw.hub.site.admin.lists import Page, page_of
from cw.hub.store.tables import Bot, Role, Ticket, User


@dataclass(frozen=True, slots=True)
class Person:
    """An account, without what is its owner's alone."""

    username: str
    role: Role
    is_confirmed: bool
    created_at: datetime
    locked_at: datetime | None
    sessions: int
    bots: int


def find_people(session: Session, text: str, number: int) -> Page[Person]:
    """Return a page of the people whose name has a text in it, the newest first: one statement."""
    sessions = select(func.count()).where(Ticket.user_id == User.id, Ticket.kind == "session")
    bots = select(func.count()).where(Bot.user_id == User.id, Bot.status != "RETIRED")
    query = (
        select(User.username, User.role, User.email_verified_at.is_not(None))
        .add_columns(User.created_at, User.locked_at)
        .add_columns(sessions.correlate(User).scalar_subquery())
        .add_columns(bots.correlate(User).scalar_subquery())
        .where(User.deleted_at.is_(None), User.username_key != HOUSE)
        .order_by(User.id.desc())
    )
    if text:
        query = query.where(User.username_key.contains(text.casefold(), autoescape=True))
    return page_of(session, query, number, lambda row: Person(*row))
