"""Access tokens for the API, each with scopes and an expiry."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, delete, func, select, update
from sqlalchemy.orm import Session

from cw.errors import CapacityError, UsageError
from cw_hub.accounts import audit
from cw_hub.accounts.access import tickets
from cw_hub.accounts.access.tickets import Holder, Scope
from cw_hub.clock import Clock
from cw_hub.store.tables import Ticket, User

MOST: Final = 10
"""Maximum number of valid tokens of one user."""

LONGEST_NAME: Final = 40
DAYS: Final = (30, 90, 365)
"""For how many days a token may be valid."""

NOTED: Final = timedelta(minutes=10)
"""The use of a token is recorded at most once within this time."""


class TooManyTokens(CapacityError):
    """A user already has the maximum number of tokens."""


class NotAdmin(UsageError):
    """A token would allow more than its user may do."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A requested token: its name, what it allows, and for how long."""

    name: str
    scopes: frozenset[Scope]
    days: int


@dataclass(frozen=True, slots=True)
class Token:
    """What a user sees of a token later; the token itself is shown only once."""

    digest: str
    name: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None

    @property
    def short(self) -> str:
        """The start of its digest, enough to identify it."""
        return self.digest[:12]


def create(session: Session, clock: Clock, user_id: int, new: NewToken, actor: str) -> str:
    """Create a token for a user and return it, for the only time. Each call creates another.

    Raises TooManyTokens if the user has ten, even with concurrent callers, and NotAdmin if the
    scope `admin` is requested for a user who is not one.
    """
    user = session.scalars(select(User).where(User.id == user_id).with_for_update()).one()
    if "admin" in new.scopes and user.role != "admin":
        raise NotAdmin(f"{user.username} is not an admin: cw hub user admin {user.username}")
    mine = (Ticket.user_id == user_id, Ticket.kind == "api", Ticket.expires_at > clock())
    if session.scalars(select(func.count()).where(*mine)).one() >= MOST:
        raise TooManyTokens(f"You have {MOST} tokens. Please revoke one first.")
    lifetime = timedelta(days=new.days)
    text = tickets.issue_token(
        session, clock, user_id, new.name, scopes=new.scopes, lifetime=lifetime
    )
    detail = {"name": new.name, "scopes": sorted(new.scopes), "days": new.days}
    audit.note(session, clock, actor, "create token", f"user:{user_id}", detail=detail)
    return text


OF_USER: Final = (
    select(Ticket)
    .where(Ticket.user_id == bindparam("user"), Ticket.kind == "api")
    .where(Ticket.expires_at > bindparam("now"))
    .order_by(Ticket.created_at, Ticket.digest)
)


def of_user(session: Session, clock: Clock, user_id: int) -> list[Token]:
    """Return the valid tokens of a user, oldest first."""
    rows = session.scalars(OF_USER, {"user": user_id, "now": clock()})
    return [
        Token(
            row.digest,
            row.label or "",
            tuple(row.scopes or ()),
            row.created_at,
            row.expires_at,
            row.last_used_at,
        )
        for row in rows
    ]


def revoke(session: Session, clock: Clock, user_id: int, digest: str, actor: str) -> bool:
    """Revoke a token of a user; return whether it existed.

    Concurrent callers: exactly one succeeds.
    """
    gone = session.scalar(
        delete(Ticket)
        .where(Ticket.digest == digest, Ticket.user_id == user_id, Ticket.kind == "api")
        .returning(Ticket.label)
        .execution_options(synchronize_session=False)
    )
    if gone is None:
        return False
    audit.note(session, clock, actor, "revoke token", f"user:{user_id}", detail={"name": gone})
    return True


def is_stale(holder: Holder, now: datetime) -> bool:
    """Return whether the use of a token is due to be recorded."""
    return holder.last_used_at is None or now - holder.last_used_at >= NOTED


def note_use(session: Session, clock: Clock, holder: Holder) -> None:
    """Record that a token is used; a revoked one stays revoked. Idempotent."""
    used = update(Ticket).where(Ticket.digest == holder.digest)
    session.execute(used.values(last_used_at=clock()))
