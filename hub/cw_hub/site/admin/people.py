"""Queries behind the admin list of accounts: locks, hosted competitions, personal limits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import func, select

from cw_hub.accounts import limits as accounts_limits
from cw_hub.accounts.service import HOUSE
from cw_hub.site.admin.overview import Page, page_of
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, CompetitionHost, Role, Ticket, User


@dataclass(frozen=True, slots=True)
class Person:
    """An account without private data."""

    username: str
    role: Role
    has_email: bool
    is_confirmed: bool
    created_at: datetime
    locked_at: datetime | None
    sessions: int
    bots: int
    leads: Sequence[str] = ()
    """The titles of the competitions that they host."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """Personal limits that differ from the usual ones, by name."""


def find_people(session: Session, text: str, number: int) -> Page[Person]:
    """Return a page of accounts whose name contains a text, newest first, in three statements."""
    sessions = select(func.count()).where(Ticket.user_id == User.id, Ticket.kind == "session")
    bots = select(func.count()).where(Bot.user_id == User.id, Bot.status != "RETIRED")
    query = (
        select(User.id, User.username, User.role, User.email.is_not(None))
        .add_columns(User.email_verified_at.is_not(None), User.created_at, User.locked_at)
        .add_columns(sessions.correlate(User).scalar_subquery())
        .add_columns(bots.correlate(User).scalar_subquery())
        .where(User.deleted_at.is_(None), User.username_key != HOUSE)
        .order_by(User.id.desc())
    )
    if text:
        query = query.where(User.username_key.contains(text.casefold(), autoescape=True))
    page = page_of(session, query, number, tuple)
    users = [row[0] for row in page.rows]
    leads, limits = led_by(session, users), accounts_limits.of_users(session, users)
    people = [
        replace(Person(*facts), leads=leads.get(user, ()), limits=limits.get(user, {}))
        for user, *facts in page.rows
    ]
    return Page(people, page.number, page.has_more)


def led_by(session: Session, users: Sequence[int]) -> dict[int, list[str]]:
    """Return the titles of competitions, by the ids of their hosts."""
    query = (
        select(CompetitionHost.user_id, Competition.title)
        .join(Competition, Competition.id == CompetitionHost.competition_id)
        .where(CompetitionHost.user_id.in_(users))
        .order_by(CompetitionHost.added_at)
    )
    titles: dict[int, list[str]] = defaultdict(list)
    for user, title in session.execute(query):
        titles[user].append(title)
    return titles
