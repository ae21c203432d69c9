"""Tickets: random strings that we hand out, and of which we keep the SHA-256 alone.

Who holds one may do what it is for, until it expires, is used up or is revoked.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final, Literal, TypeAlias

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.store.tables import Ticket, TicketKind, User

LENGTH: Final = 43
"""Characters of a ticket: 256 bits."""

LinkKind: TypeAlias = Literal["reset", "verify"]
LINKS: Final[tuple[LinkKind, ...]] = ("reset", "verify")
LINK_LIFETIME: Final = timedelta(hours=24)

REMEMBERED: Final = "remembered"
"""The label of a session that outlives its browser."""

PRINTED: Final = "printed"
"""The label of a link that no mail has carried, so that it proves no address."""

LIFETIMES: Final = {REMEMBERED: timedelta(days=90), None: timedelta(days=7)}
"""From the last use of a session, by its label."""

EXTENDED: Final = timedelta(days=1)
"""A session that was used within this time is not written anew."""


@dataclass(frozen=True, slots=True)
class Redeemed:
    """What a ticket that was used up has said."""

    user_id: int
    label: str | None


@dataclass(frozen=True, slots=True)
class Holder:
    """The user whom a session lets in, and the session itself."""

    user_id: int
    username: str
    display_name: str | None
    avatar: str | None
    is_admin: bool
    digest: str
    label: str | None
    last_used_at: datetime


def digest_of(ticket: str) -> str:
    """Return what we keep of a ticket."""
    return sha256(ticket.encode("utf-8", "surrogatepass")).hexdigest()


def issue_session(session: Session, clock: Clock, user_id: int, *, remembered: bool) -> str:
    """Return a new ticket that logs a user in; each call gives another."""
    label = REMEMBERED if remembered else None
    ticket = Ticket(kind="session", user_id=user_id, label=label)
    return _issue(session, clock(), ticket, LIFETIMES[label])


def issue_link(
    session: Session, clock: Clock, kind: LinkKind, user_id: int, label: str | None = None
) -> str:
    """Return a new ticket for a link; each call gives another, and the earlier ones stay."""
    return _issue(session, clock(), Ticket(kind=kind, user_id=user_id, label=label), LINK_LIFETIME)


def _issue(session: Session, now: datetime, ticket: Ticket, lifetime: timedelta) -> str:
    text = token_urlsafe(32)
    ticket.digest = digest_of(text)
    ticket.created_at = ticket.last_used_at = now
    ticket.expires_at = now + lifetime
    session.add(ticket)
    return text


def find_holder(session: Session, clock: Clock, ticket: str) -> Holder | None:
    """Return whom a session lets in; None if it has ended, or the user is locked or gone.

    One statement.
    """
    found = select(User, Ticket).join(Ticket, User.id == Ticket.user_id)
    row = session.execute(
        found.where(
            Ticket.digest == digest_of(ticket),
            Ticket.kind == "session",
            Ticket.expires_at > clock(),
            User.locked_at.is_(None),
            User.deleted_at.is_(None),
        )
    ).one_or_none()
    return row and _holder(row.User, row.Ticket)


def _holder(user: User, ticket: Ticket) -> Holder:
    return Holder(
        user_id=user.id,
        username=user.username or "",
        display_name=user.display_name,
        avatar=user.avatar,
        is_admin=user.role == "admin",
        digest=ticket.digest,
        label=ticket.label,
        last_used_at=ticket.last_used_at or ticket.created_at,
    )


def is_stale(holder: Holder, now: datetime) -> bool:
    """Return whether a session is due to be extended."""
    return now - holder.last_used_at >= EXTENDED


def extend(session: Session, clock: Clock, holder: Holder) -> None:
    """Let a session live on from now; twice is once, and one that has ended stays so."""
    now = clock()
    session.execute(
        update(Ticket)
        .where(Ticket.digest == holder.digest)
        .values(last_used_at=now, expires_at=now + LIFETIMES[holder.label])
    )


def is_open(session: Session, clock: Clock, kind: LinkKind, ticket: str) -> bool:
    """Return whether a link can be used; asking uses nothing up."""
    found = select(Ticket.digest).where(*_is_open(clock(), kind, ticket))
    return session.execute(found).one_or_none() is not None


def redeem(session: Session, clock: Clock, kind: LinkKind, ticket: str) -> Redeemed | None:
    """Use a link up and return what it said; None if it is unknown, used or too old.

    Of any number that try at once, one wins.
    """
    row = session.execute(
        delete(Ticket)
        .where(*_is_open(clock(), kind, ticket))
        .returning(Ticket.user_id, Ticket.label)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    return None if row is None else Redeemed(row.user_id, row.label)


def _is_open(now: datetime, kind: LinkKind, ticket: str) -> tuple[ColumnElement[bool], ...]:
    return (
        Ticket.digest == digest_of(ticket),
        Ticket.kind == kind,
        Ticket.user_id.is_not(None),
        Ticket.expires_at > now,
    )


def revoke(session: Session, ticket: str) -> None:
    """End a ticket, and what was made from it; twice is once."""
    session.execute(delete(Ticket).where(Ticket.digest == digest_of(ticket)))


def revoke_all(session: Session, user_id: int, *kinds: TicketKind) -> None:
    """End all tickets of a user, or those of some kinds; twice is once."""
    of_user = delete(Ticket).where(Ticket.user_id == user_id)
    session.execute(of_user.where(Ticket.kind.in_(kinds)) if kinds else of_user)
