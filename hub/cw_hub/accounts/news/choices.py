"""Which news people want by mail, and the links that turn it off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeGuard, get_args

from itsdangerous import BadSignature, URLSafeSerializer
from sqlalchemy import select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from cw_hub.accounts.mails.outbox import MailKind, NewsKind
from cw_hub.store.tables import User

NEWS: Final[tuple[NewsKind, ...]] = get_args(NewsKind)


@dataclass(frozen=True, slots=True)
class Choice:
    """A user's setting for news of one kind."""

    column: InstrumentedAttribute[bool]
    """Whether the mails are wanted."""
    about: str
    """What the mails are about, as it follows the word `mails`."""


CHOICES: Final[Mapping[NewsKind, Choice]] = {
    "inactive": Choice(User.bot_mails, about="about your bots"),
    "announce": Choice(User.host_mails, about="from the hosts of your tournaments"),
}


@dataclass(frozen=True, slots=True)
class Subscription:
    """News of one kind to one user."""

    user_id: int
    kind: NewsKind


def is_news(kind: MailKind) -> TypeGuard[NewsKind]:
    """Return whether a kind of mail is news, which can be turned off."""
    return kind in NEWS


def wants(session: Session, user_id: int, kind: NewsKind) -> bool:
    """Return whether a user wants news of a kind."""
    query = select(User.id).where(User.id == user_id, CHOICES[kind].column)
    return session.scalar(query) is not None


def turn_off(session: Session, subscription: Subscription) -> None:
    """Turn off news of a kind for a user. Idempotent; ignored if the user was deleted."""
    choice = CHOICES[subscription.kind]
    is_theirs = (User.id == subscription.user_id, User.deleted_at.is_(None))
    session.execute(update(User).where(*is_theirs).values({choice.column: False}))


def ticket_of(secret_key: str, subscription: Subscription) -> str:
    """Return the ticket of a link that turns news off: signed, and valid for ever."""
    value = [subscription.user_id, subscription.kind]
    return signer(secret_key).dumps(value)


def read_ticket(secret_key: str, ticket: str) -> Subscription | None:
    """Return what a link turns off, or None if this site did not issue it."""
    try:
        user_id, kind = signer(secret_key).loads(ticket)
    except BadSignature:
        return None
    return Subscription(user_id, kind) if kind in NEWS else None


def signer(secret_key: str) -> URLSafeSerializer:
    """Return the signer of the links."""
    return URLSafeSerializer(secret_key, salt="news")
