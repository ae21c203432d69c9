"""The hosts of a competition: people who lead it, besides holders of its token."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.accounts import audit, users
from cw_hub.clock import Clock
from cw_hub.competitions.verbs import OPERATOR, lock
from cw_hub.store.tables import CompetitionHost, User


def hosts_of(session: Session, competition: int) -> list[str]:
    """Return the usernames of a competition's hosts, in order of addition."""
    query = select(User.username).join(CompetitionHost, CompetitionHost.user_id == User.id)
    wanted = query.where(CompetitionHost.competition_id == competition)
    return [name or "" for name in session.scalars(wanted.order_by(CompetitionHost.added_at))]


def add_host(
    session: Session, clock: Clock, competition: int, username: str, *, actor: str = OPERATOR
) -> None:
    """Make a user a host of a competition; raise UsageError if the name is unknown. Idempotent."""
    row, user = lock(session, competition), find_person(session, username)
    if session.get(CompetitionHost, (competition, user.id)) is None:
        session.add(CompetitionHost(competition_id=competition, user_id=user.id, added_at=clock()))
        subject = f"competition:{row.format}/{row.slug}"
        detail = {"host": user.username}
        audit.note(session, clock, actor, "add host", subject, detail=detail, competition_id=row.id)


def remove_host(
    session: Session, clock: Clock, competition: int, username: str, *, actor: str = OPERATOR
) -> None:
    """Remove a host from a competition; raise UsageError if the name is unknown."""
    row, user = lock(session, competition), find_person(session, username)
    host = session.get(CompetitionHost, (competition, user.id))
    if host is None:
        raise UsageError(f"{user.username} is not a host of this tournament")
    session.delete(host)
    subject = f"competition:{row.format}/{row.slug}"
    detail = {"host": user.username}
    audit.note(session, clock, actor, "remove host", subject, detail=detail, competition_id=row.id)


def find_person(session: Session, username: str) -> users.Facts:
    """Return an account; raise UsageError, worded for users of pages, if there is none."""
    try:
        return users.find(session, username)
    except UsageError:
        raise UsageError(f"There is no user {username!r} on this site") from None
