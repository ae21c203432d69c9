"""What the operator of a site does with accounts: each act is noted in the audit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw.hub.accounts import audit, deletion, people, personal_limits
from cw.hub.accounts.access import tickets
from cw.hub.accounts.mails import outbox
from cw.hub.clock import Clock
from cw.hub.store.tables import Role, User

OPERATOR: Final = "operator"


class NoAddress(UsageError):
    """The account has no e-mail address."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the operator sees of an account."""

    id: int
    username: str
    role: str
    email: str | None
    is_confirmed: bool
    country: str | None
    created_at: datetime
    locked_at: datetime | None


def everybody(session: Session) -> list[Facts]:
    """Return all accounts that were not deleted, the oldest first."""
    users = select(User).where(User.deleted_at.is_(None)).order_by(User.id)
    return [_facts(user) for user in session.scalars(users)]


def find(session: Session, username: str) -> Facts:
    """Return the account of a name in any case; raise UsageError if there is none."""
    return _facts(_find(session, username))


def _find(session: Session, username: str) -> User:
    key = people.username_key(username)
    query = select(User).where(User.username_key == key, User.deleted_at.is_(None))
    user = session.scalars(query.with_for_update()).one_or_none()
    if user is None:
        raise UsageError(f"there is no user {username!r}; cw hub user list prints all users")
    return user


def _facts(user: User) -> Facts:
    return Facts(
        user.id,
        user.username or "",
        user.role,
        user.email,
        user.email_verified_at is not None,
        user.country,
        user.created_at,
        user.locked_at,
    )


def _note(
    session: Session,
    clock: Clock,
    verb: str,
    user: User,
    *,
    actor: str = OPERATOR,
    **detail: Any,
) -> None:
    audit.note(session, clock, actor, f"user {verb}", f"user:{user.id}", detail=detail)


def set_role(session: Session, clock: Clock, username: str, role: Role) -> None:
    """Make a user an admin, or a player again; twice is once, noted twice."""
    user = _find(session, username)
    user.role = role
    _note(session, clock, "admin", user, role=role)


def lock(session: Session, clock: Clock, username: str, *, actor: str = OPERATOR) -> None:
    """Shut a user out and end all tickets; twice keeps the first moment."""
    user = _find(session, username)
    user.locked_at = user.locked_at or clock()
    tickets.revoke_all(session, user.id)
    _note(session, clock, "lock", user, actor=actor)


def unlock(session: Session, clock: Clock, username: str, *, actor: str = OPERATOR) -> None:
    """Let a user in again; twice is once."""
    user = _find(session, username)
    user.locked_at = None
    _note(session, clock, "unlock", user, actor=actor)


def end_sessions(session: Session, clock: Clock, username: str, *, actor: str = OPERATOR) -> None:
    """Let all browsers of a user log in again; twice is once, noted twice."""
    user = _find(session, username)
    tickets.revoke_all(session, user.id, "session")
    _note(session, clock, "end-sessions", user, actor=actor)


def confirm_email(session: Session, clock: Clock, username: str, *, actor: str = OPERATOR) -> None:
    """Count the address of a user as confirmed, where no mail reaches it; twice is once.

    Raises UsageError for an account without an address.
    """
    user = _find(session, username)
    if not user.email:
        raise NoAddress(f"{user.username} has no e-mail address: cw hub user set-email")
    if user.email_verified_at is None:
        user.email_verified_at = clock()
        outbox.drop_of(session, clock, "verify", user.id)
        _note(session, clock, "confirm-email", user, actor=actor)


def set_limit(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    username: str,
    name: str,
    most: int | None,
    *,
    actor: str = OPERATOR,
) -> None:
    """Give a user another limit; None: as usual. Twice: the same, noted twice.

    Raises UsageError for an unknown name of a limit.
    """
    user = _find(session, username)
    personal_limits.put(session, user.id, name, most)
    _note(session, clock, "limit", user, actor=actor, limit=name, most=most)


def delete(session: Session, clock: Clock, username: str) -> None:
    """Delete an account as its user would; raises UsageError when called twice."""
    user = _find(session, username)
    user.deleted_at = clock()
    session.flush()
    deletion.forget(session, user.id)
    _note(session, clock, "delete", user)


def set_email(session: Session, clock: Clock, username: str, email: str) -> None:
    """Give a user another address, which is not confirmed; links to the old one end."""
    user = _find(session, username)
    user.email = email
    user.email_verified_at = None
    tickets.revoke_all(session, user.id, *tickets.LINKS)
    outbox.drop_of(session, clock, "email", user.id)
    # The audit is for ever, so it does not hold the address.
    _note(session, clock, "set-email", user)


def reset_link(session: Session, clock: Clock, username: str) -> str:
    """Return a new ticket to reset the password with; it confirms no address.

    Raises UsageError for a locked account, whose tickets are of no use.
    """
    user = _find(session, username)
    if user.locked_at:
        raise UsageError(f"{user.username} is locked: cw hub user unlock {user.username}")
    _note(session, clock, "reset-link", user)
    return tickets.issue_link(session, clock, "reset", user.id, tickets.PRINTED)
