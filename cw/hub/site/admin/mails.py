"""The mails of a site as admins see them: what became of each, and nothing of what it says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, func, or_, select
from sqlalchemy.orm import Session

from cw.hub.accounts.mails.outbox import ATTEMPTS
from cw.hub.site.admin.lists import Page, page_of
from cw.hub.store.tables import Mail, MailState, User

KINDS: Final = {
    "reset": "new password",
    "verify": "confirm the address",
    "email": "confirm another address",
    "moving": "the address is changed",
    "github": "GitHub was connected or disconnected",
    "inactive": "a bot does not answer",
    "announce": "announcement of a host",
}
"""What mails are about, by their kinds."""

STATES: Final[dict[MailState, str]] = {
    "dead": "could not be sent",
    "waiting": "waits",
    "sent": "sent",
    "dropped": "not to be sent",
}
"""How mails stand, those first that need somebody."""


@dataclass(frozen=True, slots=True)
class MailChoice:
    """Which mails are wanted; "": all."""

    to: str = ""
    """Part of a username, or a whole address: an address is not found by a part of it."""
    state: str = ""


@dataclass(frozen=True, slots=True)
class ListedMail:
    """A mail, without its address, its words and its link."""

    id: int
    kind: str
    username: str | None
    """None for an account that was deleted."""
    state: MailState
    attempt: int
    """How often it was tried; after the last time it is dead."""
    reason: str
    created_at: datetime
    due_at: datetime
    ended_at: datetime | None

    @property
    def about(self) -> str:
        """What it is about, in words."""
        return KINDS.get(self.kind, self.kind)

    @property
    def stands(self) -> str:
        """How it stands, in words."""
        if self.state == "waiting" and self.attempt:
            return f"waits after {self.attempt} of {ATTEMPTS} attempts"
        return STATES[self.state]


def find_mails(session: Session, choice: MailChoice, number: int) -> Page[ListedMail]:
    """Return a page of mails, the latest first: one statement. Those sent long ago are forgotten.

    Without a choice of a state, those come first that could not be sent.
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
    """Return a row as a mail."""
    return ListedMail(*row)


def is_to(text: str) -> ColumnElement[bool]:
    """Return what holds of mails to somebody: by a part of the name, or by the address."""
    key = text.lower()
    if "@" in key:
        return or_(func.lower(User.email) == key, func.lower(Mail.email) == key)
    return User.username_key.contains(key, autoescape=True)
