"""What the operator of a site does with accounts; every action is recorded in the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.accounts import audit, deletion, people, personal_limits
from cw_hub.accounts.access import tickets
from cw_hub.accounts.mails import outbox
from cw_hub.clock import Clock
from cw_hub.store.tables import Role, User

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
    """Return all accounts that were not deleted, oldest first."""
    users = select(User).where(User.deleted_at.is_(None)).order_by(User.id)
    return [_facts(user) for user in session.scalars(users)]


def find(session: Session, username: str) -> Facts:
    """Return the account with a name, ignoring case; raise UsageError if there is none."""
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
    """Make a user an admin, or a player again. Idempotent, but recorded each time."""
    user = _find(session, username)
    user.role = role
    _note(session, clock, "admin", user, role=role)


def lock(session: Session, clock: Clock, username: str, *, actor: str = OPERATOR) -> None:
    """Lock a user and end all their tickets; repeated calls keep the first time."""
    user = _find(session, username)
    user.locked_at = user.locked_at or clock()
    tickets.revoke_all(session, user.id)
    _note(session, clock, "lock", user, actor=actor)


def unlock(session: Session, clock: Clock, username: str, *, actor: str = OPERATOR) -> None:
    """Unlock a user. Idempotent."""
    user = _find(session, username)
    user.locked_at = None
    _note(session, clock, "unlock", user, actor=actor)


def end_sessions(session: Session, clock: Clock, username: str, *, actor: str = OPERATOR) -> None:
    """Log a user out of all browsers. Idempotent, but recorded each time."""
    user = _find(session, username)
    tickets.revoke_all(session, user.id, "session")
    _note(session, clock, "end-sessions", user, actor=actor)


def confirm_email(session: Session, clock: Clock, username: str, *, actor: str = OPERATOR) -> None:
    """Confirm a user's address without a mail. Idempotent.

    Raises UsageError if the account has no address.
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
    """Set a limit of a user; None resets it. Idempotent, but recorded each time.

    Raises UsageError for an unknown name of a limit.
    """
    user = _find(session, username)
    personal_limits.put(session, user.id, name, most)
    _note(session, clock, "limit", user, actor=actor, limit=name, most=most)


def delete(session: Session, clock: Clock, username: str) -> None:
    """Delete an account as its user would; raises UsageError if already deleted."""
    user = _find(session, username)
    user.deleted_at = clock()
    session.flush()
    deletion.forget(session, user.id)
    _note(session, clock, "delete", user)


def set_email(session: Session, clock: Clock, username: str, email: str) -> None:
    """Set another, unconfirmed address for a user; links sent to the old one end."""
    user = _find(session, username)
    user.email = email
    user.email_verified_at = None
    tickets.revoke_all(session, user.id, *tickets.LINKS)
    outbox.drop_of(session, clock, "email", user.id)
    # The audit log is kept for ever, so it does not contain the address.
    _note(session, clock, "set-email", user)


def reset_link(session: Session, clock: Clock, username: str) -> str:
    """Return a new ticket to reset the password with, which confirms no address.

    Raises UsageError if the account is locked, as its tickets are useless.
    """
    user = _find(session, username)
    if user.locked_at:
        raise UsageError(f"{user.username} is locked: cw hub user unlock {user.username}")
    _note(session, clock, "reset-link", user)
    return tickets.issue_link(session, clock, "reset", user.id, tickets.PRINTED)
