"""Queries behind the admin list of emails: their status, but none of their content."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, func, or_, select

from cw_hub.accounts.mail import ATTEMPTS
from cw_hub.site.admin.overview import Page, page_of
from cw_hub.store.database import Session
from cw_hub.store.models import Mail, MailState, User

MATCH_TYPES: Final = {
    "reset": "new password",
    "verify": "confirm the address",
    "email": "confirm another address",
    "moving": "the address is changed",
    "github": "GitHub was connected or disconnected",
    "inactive": "a bot does not answer",
    "announce": "announcement of a host",
}
"""The subjects of emails, by kind."""

STATES: Final[dict[MailState, str]] = {
    "dead": "could not be sent",
    "waiting": "waits",
    "sent": "sent",
    "dropped": "not to be sent",
}
"""States of emails, those that need attention first."""


@dataclass(frozen=True, slots=True)
class MailChoice:
    """A filter for emails; "" matches all."""

    to: str = ""
    """Part of a username, or a complete email address: parts of addresses do not match."""
    state: str = ""


@dataclass(frozen=True, slots=True)
class ListedMail:
    """A listed email, without its recipient's address, text and link."""

    id: int
    kind: str
    username: str | None
    """None for a deleted account."""
    state: MailState
    attempt: int
    """Number of attempts; after the last one it is dead."""
    reason: str
    created_at: datetime
    due_at: datetime
    ended_at: datetime | None

    @property
    def about(self) -> str:
        """Its subject, as text."""
        return MATCH_TYPES.get(self.kind, self.kind)

    @property
    def stands(self) -> str:
        """Its status, as text."""
        if self.state == "waiting" and self.attempt:
            return f"waits after {self.attempt} of {ATTEMPTS} attempts"
        return STATES[self.state]


def find_mails(session: Session, choice: MailChoice, number: int) -> Page[ListedMail]:
    """Return a page of emails, the latest first, in one statement.

    Without a state in the filter, failed ones come first. Emails sent long ago are deleted.
    """
    columns = (Mail.id, Mail.kind, User.username, Mail.state, Mail.attempt, Mail.reason)
    query = (
        select(*columns, Mail.created_at, Mail.due_at, Mail.ended_at)
        .join(User, User.id == Mail.user_id)
        .order_by(Mail.state != "dead", Mail.id.desc())
    )
    if choice.to:
        query = query.where(is_to(choice.to))
    if choice.state:
        query = query.where(Mail.state == choice.state)
    return page_of(session, query, number, listed)


def listed(row: Row[*tuple[Any, ...]]) -> ListedMail:
    """Convert a row to a listed email."""
    return ListedMail(*row)


def is_to(text: str) -> ColumnElement[bool]:
    """Return the SQL condition for emails to a user, by part of the name or by email address."""
    key = text.lower()
    if "@" in key:
        return or_(func.lower(User.email) == key, func.lower(Mail.email) == key)
    return User.username_key.contains(key, autoescape=True)
