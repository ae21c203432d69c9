"""The printed login tokens (cards) of teams and hosts, and the sessions created from them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from sqlalchemy import bindparam, select
from sqlalchemy.orm import aliased

from cw.errors import UsageError
from cw_hub.accounts.tickets import digest_of, issue
from cw_hub.store.database import Session
from cw_hub.store.models import Competition, Team, Ticket

CardKind: TypeAlias = Literal["card", "host_card"]


CARDS: Final[dict[CardKind, Literal["team", "host"]]] = {"card": "team", "host_card": "host"}
"""The kinds of printed tokens, each with the kind of session created from it."""


LETTERS_OF_CARD: Final = 16


HOST_LIFETIME: Final = timedelta(hours=12)


NO_CARD: Final = "Please enter your login token"


WRONG_LENGTH: Final = (
    "A login token has 16 letters, like ABCD-EFGH-JKMN-PQRS; this one has {length}"
)


UNKNOWN_CARD: Final = "This login token is unknown. Check the card, or ask the host for a new one."


class RefusedCard(UsageError):
    """The text entered is not a valid token; the message is shown to the user."""


class UnknownCard(RefusedCard):
    """The text is well-formed but not a known token, so it counts as a guess."""


@dataclass(frozen=True, slots=True)
class Entered:
    """A session created from a card."""

    ticket: str
    kind: Literal["team", "host"]
    team_id: int | None
    """None for a host."""
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class TeamHolder:
    """The team that a browser acts for, and its session ticket."""

    competition_id: int
    team_id: int
    slug: str
    name: str
    digest: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class HostHolder:
    """A host session and its ticket."""

    competition_id: int
    digest: str
    expires_at: datetime


def letters_of(token: str) -> str:
    """Return an entered token in upper case, without spaces and hyphens."""
    letters = (sign for sign in token if not sign.isspace() and unicodedata.category(sign) != "Pd")
    return "".join(letters).upper()


def enter_by_card(session: Session, competition_id: int, token: str) -> Entered:
    """Return a new session for the team or host of a card; the card stays valid.

    Raises RefusedCard if the token is not, or no longer, valid in this tournament. Each call opens
    another session, so that a team can use several browsers.
    """
    letters, now = letters_of(token), session.now()
    if not letters:
        raise RefusedCard(NO_CARD)
    # Checked before the lookup: a wrong length is explained, and does not count as a guess.
    if len(letters) != LETTERS_OF_CARD:
        raise RefusedCard(WRONG_LENGTH.format(length=len(letters)))
    card = session.scalars(
        select(Ticket)
        .outerjoin(Team, Team.id == Ticket.team_id)
        .where(
            Ticket.digest == digest_of(letters),
            Ticket.kind.in_(CARDS),
            Ticket.competition_id == competition_id,
            Ticket.expires_at > now,
            Team.removed_at.is_(None),
        )
    ).one_or_none()
    if card is None:
        raise UnknownCard(UNKNOWN_CARD)
    kind = CARDS["card" if card.kind == "card" else "host_card"]
    lifetime = card.expires_at - now
    if kind == "host":
        lifetime = min(lifetime, HOST_LIFETIME)
    session_row = Ticket(kind=kind, competition_id=competition_id, team_id=card.team_id)
    # Revoking a card ends the sessions created from it, in every browser.
    session_row.parent = card.digest
    ticket = issue(session, now, session_row, lifetime)
    card.last_used_at = now
    return Entered(ticket, kind, card.team_id, session_row.expires_at)


_Card = aliased(Ticket)

ENTERED: Final = (
    select(
        Ticket.competition_id,
        Ticket.team_id,
        Ticket.digest,
        Ticket.expires_at,
        Team.slug,
        Team.name,
    )
    .join(_Card, _Card.digest == Ticket.parent)
    .join(Competition, Competition.id == Ticket.competition_id)
    .outerjoin(Team, Team.id == Ticket.team_id)
    .where(
        Ticket.digest == bindparam("digest"),
        Ticket.kind == bindparam("kind"),
        Ticket.expires_at > bindparam("now"),
        _Card.expires_at > bindparam("now"),
        Competition.slug == bindparam("slug"),
        Team.removed_at.is_(None),
    )
)
"""The holder of a session created from a card, as long as that card is valid."""


def find_team(session: Session, slug: str, ticket: str) -> TeamHolder | None:
    """Return the team that a session acts for in a tournament, or None if it has ended.

    Executes one query.
    """
    parameters = {"digest": digest_of(ticket), "kind": "team", "now": session.now(), "slug": slug}
    row = session.execute(ENTERED, parameters).one_or_none()
    if row is None or row.team_id is None:
        return None
    return TeamHolder(
        row.competition_id, row.team_id, row.slug, row.name, row.digest, row.expires_at
    )


def find_host(session: Session, slug: str, ticket: str) -> HostHolder | None:
    """Return the host session of a tournament, or None if it has ended.

    Executes one query.
    """
    parameters = {"digest": digest_of(ticket), "kind": "host", "now": session.now(), "slug": slug}
    row = session.execute(ENTERED, parameters).one_or_none()
    return row and HostHolder(row.competition_id, row.digest, row.expires_at)
