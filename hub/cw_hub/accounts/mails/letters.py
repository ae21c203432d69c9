"""The texts of the hub's mails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw_hub.accounts.mails.outbox import Claim, MailKind
from cw_hub.accounts.news import choices
from cw_hub.operation.settings import HubSettings
from cw_hub.store.tables import Bot

SUBJECTS: Final = {
    "reset": "Reset password",
    "verify": "Confirm your e-mail address",
    "email": "Confirm your new e-mail address",
}
REASONS: Final = {
    "reset": "You requested to change your {site} password. To reset your password, please"
    " click the following link:",
    "verify": "To confirm your e-mail address, please click the following link:",
    "email": "To use this e-mail address for your {site} account from now on, please click the"
    " following link:",
}

HELP: Final = "If you keep having problems, just reply to this e-mail and we'll be happy to help."

MOVING: Final = (
    "Somebody who is logged in to your {site} account asked to change its e-mail address. The "
    "new address replaces this one as soon as it is confirmed.",
    "If it was you, there is nothing to do. If not, change your password now, which cancels the "
    "change:",
    "{address}/settings",
)

GITHUB: Final = (
    "Somebody who is logged in to your {site} account has connected it to GitHub, or disconnected "
    "it.",
    "If it was you, there is nothing to do. If not, change your password now, and disconnect GitHub"
    " if it is connected; a new password alone does not do that:",
    "{address}/settings",
)

INACTIVE: Final = (
    "Your bot {name} is inactive: it could not be reached three times in a row. The last error: "
    "{reason}",
    "Start it again, and check that its address is right. Then press Test now on its page:",
    "{link}",
    "It is also checked from time to time, and plays again as soon as it answers.",
)

TURN_OFF: Final = "To stop mails {about}: {link}"


@dataclass(frozen=True, slots=True)
class Words:
    """The subject and the paragraphs of a mail."""

    subject: str
    paragraphs: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return them as JSON, to be stored with a waiting mail."""
        return {"subject": self.subject, "paragraphs": list(self.paragraphs)}


def stored(words: Mapping[str, Any]) -> Words:
    """Return the words stored with a mail."""
    return Words(words["subject"], tuple(words["paragraphs"]))


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail to a user."""

    to: str
    username: str
    kind: MailKind
    words: Words
    message_id: str
    site: str
    """The site's name in the signature."""
    turns_off: str = ""
    """The link that turns off such mails, or "" if they cannot be turned off."""

    def body(self) -> str:
        """Return the text of the mail."""
        ending = ("Best,", f"The {self.site} Team.\n")
        paragraphs = (*self.words.paragraphs, *self.way_out())
        return "\n\n".join((f"Hi {self.username},", *paragraphs, *ending))

    def way_out(self) -> Iterator[str]:
        """Yield the paragraph that says how to turn off such mails, if possible."""
        if choices.is_news(self.kind):
            about = choices.CHOICES[self.kind].about
            yield TURN_OFF.format(about=about, link=self.turns_off)


def with_link(kind: MailKind, link: str, site: str) -> Words:
    """Return the text of a mail with a ticket link."""
    return Words(SUBJECTS[kind], (REASONS[kind].format(site=site), link, HELP))


def about_move(settings: HubSettings) -> Words:
    """Return the text of a mail saying that another address is to replace this one."""
    facts = {"site": settings.signed_by, "address": settings.address}
    return Words(
        "Your e-mail address is about to change", tuple(text.format(**facts) for text in MOVING)
    )


def about_github(settings: HubSettings) -> Words:
    """Return the text of a mail saying that GitHub was connected or disconnected."""
    facts = {"site": settings.signed_by, "address": settings.address}
    return Words(
        "The log-in with GitHub has changed", tuple(text.format(**facts) for text in GITHUB)
    )


def about_bot(session: Session, settings: HubSettings, claim: Claim) -> Words | None:
    """Return the text of a mail saying that a bot is inactive, or None if it no longer is."""
    row = session.execute(
        select(Bot.name, Bot.game, Bot.reason)
        .where(Bot.id == claim.bot_id, Bot.user_id == claim.user_id)
        .where(Bot.status == "INACTIVE")
    ).one_or_none()
    if row is None:
        return None
    facts = {
        "name": row.name,
        "reason": row.reason,
        "link": f"{settings.address}/bot/{row.name}?game={row.game}",
    }
    return Words(
        f"Your bot {row.name} is inactive", tuple(text.format(**facts) for text in INACTIVE)
    )
