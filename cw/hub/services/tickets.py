"""Tickets: random strings that we hand out, and of which we keep the SHA-256 alone.

Who holds one may do what it is for, until it expires, is used up or is revoked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final, Literal, TypeAlias

from sqlalchemy import ColumnElement, bindparam, delete, select, update
from sqlalchemy.orm import Session, aliased

from cw.errors import UsageError
from cw.hub.clock import Clock
from cw.hub.store.tables import Competition, Team, Ticket, TicketKind, User

LENGTH: Final = 43
"""Characters of a ticket: 256 bits."""

TOKEN: Final = "cw_"  # noqa: S105
"""How access tokens begin, so that people and scanners see what they have found."""

Scope: TypeAlias = Literal["read", "bots", "admin"]
"""What an access token may allow: to see one's own, to act for one's bots, to do as admins do."""

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

CardKind: TypeAlias = Literal["card", "host_card"]
CARDS: Final[dict[CardKind, Literal["team", "host"]]] = {"card": "team", "host_card": "host"}
"""The kinds of printed tokens, and of the sessions that are made from them."""

LETTERS_OF_CARD: Final = 16
HOST_LIFETIME: Final = timedelta(hours=12)

NO_CARD: Final = "Please enter your login token"
WRONG_LENGTH: Final = (
    "A login token has 16 letters, like ABCD-EFGH-JKMN-PQRS; this one has {length}"
)
UNKNOWN_CARD: Final = "This login token is not known. Check the card or ask the host for a new one."


@dataclass(frozen=True, slots=True)
class Redeemed:
    """What a ticket that was used up has said."""

    user_id: int
    label: str | None


@dataclass(frozen=True, slots=True)
class Holder:
    """The user whom a session or an access token lets in, and that ticket itself."""

    user_id: int
    username: str
    display_name: str | None
    avatar: str | None
    is_admin: bool
    digest: str
    label: str | None
    last_used_at: datetime | None
    """None for an access token that has never been used."""
    expires_at: datetime
    scopes: frozenset[Scope] | None = None
    """What an access token allows; None for a session, which allows all."""


class RefusedCard(UsageError):
    """What was entered is not the token of a card; the message is what people read."""


class UnknownCard(RefusedCard):
    """What was entered might be a token, and is none: a guess."""


@dataclass(frozen=True, slots=True)
class Entered:
    """A session that was made from a card."""

    ticket: str
    kind: Literal["team", "host"]
    team_id: int | None
    """None for a host."""
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class TeamHolder:
    """The team for which a browser acts, and the ticket of its session."""

    competition_id: int
    team_id: int
    slug: str
    name: str
    digest: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class HostHolder:
    """The ticket of a host's session."""

    competition_id: int
    digest: str
    expires_at: datetime


_USERS, _TICKETS = User.__table__.c, Ticket.__table__.c

HOLDER: Final = (
    select(
        _TICKETS.user_id,
        _USERS.username,
        _USERS.display_name,
        _USERS.avatar,
        _USERS.role,
        _TICKETS.digest,
        _TICKETS.label,
        _TICKETS.last_used_at,
        _TICKETS.expires_at,
        _TICKETS.scopes,
    )
    .join(User.__table__, _USERS.id == _TICKETS.user_id)
    .where(
        _TICKETS.digest == bindparam("digest"),
        _TICKETS.kind == bindparam("kind"),
        _TICKETS.expires_at > bindparam("now"),
        _USERS.locked_at.is_(None),
        _USERS.deleted_at.is_(None),
    )
)
"""Whom a ticket lets in: made once, and of columns alone, as every page of a player asks it."""


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


def issue_token(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    user_id: int,
    label: str,
    *,
    scopes: Iterable[Scope],
    lifetime: timedelta,
) -> str:
    """Return a new access token, which has never been used; each call gives another."""
    ticket = Ticket(kind="api", user_id=user_id, label=label, scopes=sorted(scopes))
    text = _issue(session, clock(), ticket, lifetime, TOKEN)
    ticket.last_used_at = None
    return text


def _issue(
    session: Session, now: datetime, ticket: Ticket, lifetime: timedelta, prefix: str = ""
) -> str:
    text = prefix + token_urlsafe(32)
    ticket.digest = digest_of(text)
    ticket.created_at = ticket.last_used_at = now
    ticket.expires_at = now + lifetime
    session.add(ticket)
    return text


def find_holder(session: Session, clock: Clock, ticket: str) -> Holder | None:
    """Return whom a session lets in; None if it has ended, or the user is locked or gone.

    One statement.
    """
    return _find_holder(session, clock, "session", ticket)


def find_bearer(session: Session, clock: Clock, token: str) -> Holder | None:
    """Return whom an access token lets in; None if it is over, or the user is locked or gone.

    One statement.
    """
    return _find_holder(session, clock, "api", token)


def _find_holder(session: Session, clock: Clock, kind: TicketKind, ticket: str) -> Holder | None:
    asked = {"digest": digest_of(ticket), "kind": kind, "now": clock()}
    row = session.execute(HOLDER, asked).one_or_none()
    if row is None:
        return None
    return Holder(
        user_id=row.user_id,
        username=row.username or "",
        display_name=row.display_name,
        avatar=row.avatar,
        is_admin=row.role == "admin",
        digest=row.digest,
        label=row.label,
        last_used_at=row.last_used_at,
        expires_at=row.expires_at,
        scopes=frozenset(row.scopes or ()) if kind == "api" else None,
    )


def is_stale(holder: Holder, now: datetime) -> bool:
    """Return whether a session is due to be extended."""
    return holder.last_used_at is None or now - holder.last_used_at >= EXTENDED


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
    revoke_digest(session, digest_of(ticket))


def revoke_digest(session: Session, digest: str) -> None:
    """End the ticket of which we keep this, and what was made from it; twice is once."""
    session.execute(delete(Ticket).where(Ticket.digest == digest))


def revoke_all(session: Session, user_id: int, *kinds: TicketKind) -> None:
    """End all tickets of a user, or those of some kinds; twice is once."""
    of_user = delete(Ticket).where(Ticket.user_id == user_id)
    session.execute(of_user.where(Ticket.kind.in_(kinds)) if kinds else of_user)


# Cards


def letters_of(token: str) -> str:
    """Return a token as it was typed, in any case, without blanks and hyphens."""
    kept = (sign for sign in token if not sign.isspace() and unicodedata.category(sign) != "Pd")
    return "".join(kept).upper()


def enter_by_card(session: Session, clock: Clock, competition_id: int, token: str) -> Entered:
    """Return a new session for the team, or the host, whose card it is; the card stays good.

    Raises RefusedCard for what is no token of this tournament, or none any more. Twice: two
    sessions, so that a team can be in several browsers.
    """
    letters, now = letters_of(token), clock()
    if not letters:
        raise RefusedCard(NO_CARD)
    if len(letters) != LETTERS_OF_CARD:
        raise RefusedCard(WRONG_LENGTH.format(length=len(letters)))
    card = session.scalars(
        select(Ticket).where(
            Ticket.digest == digest_of(letters),
            Ticket.kind.in_(CARDS),
            Ticket.competition_id == competition_id,
            Ticket.expires_at > now,
        )
    ).one_or_none()
    if card is None:
        raise UnknownCard(UNKNOWN_CARD)
    kind = CARDS["card" if card.kind == "card" else "host_card"]
    left = card.expires_at - now
    made = Ticket(kind=kind, competition_id=competition_id, team_id=card.team_id)
    made.parent = card.digest
    text = _issue(session, now, made, left if kind == "team" else min(left, HOST_LIFETIME))
    card.last_used_at = now
    return Entered(text, kind, card.team_id, made.expires_at)


_CARDS, _TEAMS, _COMPETITIONS = (
    aliased(Ticket.__table__),
    Team.__table__.c,
    Competition.__table__.c,
)

ENTERED: Final = (
    select(
        _TICKETS.competition_id,
        _TICKETS.team_id,
        _TICKETS.digest,
        _TICKETS.expires_at,
        _TEAMS.slug,
        _TEAMS.name,
    )
    .join(_CARDS, _CARDS.c.digest == _TICKETS.parent)
    .join(Competition.__table__, _COMPETITIONS.id == _TICKETS.competition_id)
    .outerjoin(Team.__table__, _TEAMS.id == _TICKETS.team_id)
    .where(
        _TICKETS.digest == bindparam("digest"),
        _TICKETS.kind == bindparam("kind"),
        _TICKETS.expires_at > bindparam("now"),
        _CARDS.c.expires_at > bindparam("now"),
        _COMPETITIONS.format == "ladder",
        _COMPETITIONS.slug == bindparam("slug"),
    )
)
"""Whom a session lets in that was made from a card, while that card is good."""


def find_team(session: Session, clock: Clock, slug: str, ticket: str) -> TeamHolder | None:
    """Return the team of a tournament that a session lets in; None if it has ended.

    One statement.
    """
    asked = {"digest": digest_of(ticket), "kind": "team", "now": clock(), "slug": slug}
    row = session.execute(ENTERED, asked).one_or_none()
    if row is None or row.team_id is None:
        return None
    return TeamHolder(
        row.competition_id, row.team_id, row.slug, row.name, row.digest, row.expires_at
    )


def find_host(session: Session, clock: Clock, slug: str, ticket: str) -> HostHolder | None:
    """Return the host of a tournament whom a session lets in; None if it has ended.

    One statement.
    """
    asked = {"digest": digest_of(ticket), "kind": "host", "now": clock(), "slug": slug}
    row = session.execute(ENTERED, asked).one_or_none()
    return row and HostHolder(row.competition_id, row.digest, row.expires_at)
