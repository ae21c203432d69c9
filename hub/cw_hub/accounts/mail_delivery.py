"""Sends the hub's emails: login and confirmation links, and notifications."""

from __future__ import annotations

import hmac
import logging
import os
import smtplib
import sys
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from itertools import count
from pathlib import Path
from typing import Final

from email_validator import validate_email
from sqlalchemy import select

from cw.errors import Failure
from cw.files import make_folder
from cw_hub.accounts import mail as accounts_mail
from cw_hub.accounts import tickets
from cw_hub.accounts.mail import Claim, Letter, MailKind, Subscription, Words
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings
from cw_hub.operation.smtp import connection_to
from cw_hub.store.database import Session
from cw_hub.store.models import User

MAIL: Final = "mail"

EVERY: Final = 5.0
"""Seconds between two checks for due emails."""

RETENTION: Final = timedelta(days=7)
"""How long emails written to files are stored."""

LONGEST_LINE: Final = 998

log = logging.getLogger("cw.hub.mail")


@dataclass(frozen=True, slots=True)
class Address:
    """The recipient of an email to a user."""

    username: str
    email: str
    is_confirmed: bool


def send_due(resources: Resources) -> None:
    """Send the due emails one by one, until one cannot be sent.

    With concurrent callers, each email is still sent once.
    """
    with resources.database.reading() as session:
        waiting = accounts_mail.due(session)
    for mail_id in waiting:
        if not send_mail(resources, mail_id):
            return


def send_mail(resources: Resources, mail_id: int) -> bool:
    """Send an email if it is due and not claimed; return False if it could not be sent.

    Users who are locked, deleted or without an email address get nothing, nor does a recipient who
    has reached the daily quota. The email's ticket is valid before the email is sent; if sending
    fails, it is revoked until the next attempt.
    """
    with resources.database.writing() as session:
        claim = accounts_mail.claim(session, mail_id)
        letter = prepare(resources, session, claim) if claim else None
    if claim is None or letter is None:
        return True
    try:
        deliver(resources, letter)
    except (OSError, smtplib.SMTPException, Failure) as error:
        # A server's error message may contain the email address.
        note_failure(resources, claim, letter, type(error).__name__)
        return False
    with resources.database.writing() as session:
        accounts_mail.end(session, claim, "sent")
    return True


def prepare(resources: Resources, session: Session, claim: Claim) -> Letter | None:
    """Count an email and issue its ticket; if it must not be sent, record why and return None."""
    address = find_address(session, claim)
    if address is None:
        accounts_mail.end(session, claim, "dropped", "no recipient")
        return None
    words = words_of(resources, session, claim, address)
    if words is None:
        accounts_mail.end(session, claim, "dropped", "the recipient no longer wants it")
        return None
    key = accounts_mail.key_of(resources.secret_key, ascii_address(address.email))
    confirmed = address.is_confirmed
    if not accounts_mail.count(session, key, claim.kind, is_confirmed=confirmed):
        accounts_mail.end(session, claim, "dropped", "too many mails to this address")
        log.warning("mail to user %s not sent: too many mails to its address today", claim.user_id)
        return None
    if claim.kind in ("reset", "verify", "email"):
        ticket = ticket_of(resources, claim)
        tickets.issue_link_again(session, claim.kind, claim.user_id, ticket, claim.email)
    return Letter(
        address.email,
        address.username,
        claim.kind,
        words,
        claim.message_id,
        site=resources.settings.signed_by,
        turns_off=link_to_turn_off(resources, claim),
    )


def words_of(
    resources: Resources, session: Session, claim: Claim, address: Address
) -> Words | None:
    """Return the text of an email, or None if the recipient no longer wants it.

    News is not sent to unconfirmed email addresses.
    """
    if accounts_mail.is_news(claim.kind):
        is_wanted = accounts_mail.wants(session, claim.user_id, claim.kind) and address.is_confirmed
        return news_of(session, resources.settings, claim) if is_wanted else None
    if claim.kind == "moving":
        return accounts_mail.about_move(resources.settings)
    if claim.kind == "github":
        return accounts_mail.about_github(resources.settings)
    link = link_to(resources.settings, claim.kind, ticket_of(resources, claim))
    return accounts_mail.with_link(claim.kind, link, resources.settings.signed_by)


def news_of(session: Session, settings: HubSettings, claim: Claim) -> Words | None:
    """Return the text of a news email, or None if it is outdated."""
    if claim.kind == "inactive":
        return accounts_mail.about_bot(session, settings, claim)
    return accounts_mail.stored(claim.words) if claim.words else None


def ticket_of(resources: Resources, claim: Claim) -> str:
    """Return the ticket of an email's link: the same on every attempt, and stored nowhere.

    If two copies of an email arrive, the links of both work.
    """
    key = resources.secret_key.encode()
    digest = hmac.digest(key, f"link of mail {claim.message_id}".encode(), "sha256")
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def note_failure(resources: Resources, claim: Claim, letter: Letter, reason: str) -> None:
    """Record that an email could not be sent, revoke its ticket and undo its count."""
    log.warning("mail to user %s not sent: %s", claim.user_id, reason)
    key = accounts_mail.key_of(resources.secret_key, ascii_address(letter.to))
    with resources.database.writing() as session:
        tickets.revoke(session, ticket_of(resources, claim))
        accounts_mail.take_back(session, key, claim.kind)
        is_dead = accounts_mail.fail(session, claim, reason)
    if is_dead:
        log.error("gave up on mail to user %s after %s attempts", claim.user_id, claim.attempt)


def find_address(session: Session, claim: Claim) -> Address | None:
    """Return the recipient of an email, or None if locked, deleted or without an email address."""
    is_active = (User.id == claim.user_id, User.locked_at.is_(None), User.deleted_at.is_(None))
    columns = select(User.username, User.email, User.email_verified_at)
    row = session.execute(columns.where(*is_active)).one_or_none()
    if row is None or not row.username:
        return None
    if claim.email:
        return Address(row.username, claim.email, is_confirmed=claim.kind == "moving")
    if not row.email:
        return None
    return Address(row.username, row.email, row.email_verified_at is not None)


def link_to(settings: HubSettings, kind: MailKind, ticket: str) -> str:
    """Return the URL of a ticket link; it does not depend on any request."""
    return f"{settings.address}/{kind}/{ticket}"


def link_to_turn_off(resources: Resources, claim: Claim) -> str:
    """Return the unsubscribe link for this kind of news, or "" if the email is not news."""
    if not accounts_mail.is_news(claim.kind):
        return ""
    subscription = Subscription(claim.user_id, claim.kind)
    ticket = accounts_mail.ticket_of(resources.secret_key, subscription)
    return f"{resources.settings.address}/unsubscribe/{ticket}"


def deliver(resources: Resources, mail: Letter) -> None:
    """Send an email, or write it to a file if no server is configured."""
    message = compose(resources, mail)
    if resources.settings.mail:
        send(resources.settings.mail, message)
    else:
        path = write(resources, message)
        log.info("mail written to %s", path)
        show(resources.settings, mail)


def show(settings: HubSettings, mail: Letter) -> None:
    """Print an email on the console of a local site, whose owner is the reader."""
    if settings.is_local:
        sys.stderr.write(f"\n{mail.words.subject}\n\n{mail.body()}\n")


def compose(resources: Resources, mail: Letter) -> EmailMessage:
    """Build the message to send for an email."""
    sender = resources.settings.sender
    message = EmailMessage()
    message["From"] = sender
    # The domain may be in any script, but some servers take only ASCII.
    message["To"] = ascii_address(mail.to)
    message["Subject"] = mail.words.subject
    message["Date"] = format_datetime(resources.clock())
    message["Message-ID"] = f"<{mail.message_id}@{sender.rpartition('@')[2]}>"
    if mail.turns_off:
        # One-click unsubscribe in mail programs (RFC 8058).
        message["List-Unsubscribe"] = f"<{mail.turns_off}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    body = mail.body()
    message.set_content(body, cte="7bit" if is_plain(body) else "quoted-printable")
    return message


def is_plain(text: str) -> bool:
    """Return whether every mail server accepts a text unencoded (RFC 5322, 2.1.1)."""
    return text.isascii() and all(len(line) <= LONGEST_LINE for line in text.splitlines())


def ascii_address(email: str) -> str:
    """Return an email address with its domain in ASCII; unchanged if its mailbox is not ASCII."""
    return validate_email(email, check_deliverability=False).ascii_email or email


def send(server: str, message: EmailMessage) -> None:
    """Send an email through a server; raise OSError or SMTPException on failure."""
    with connection_to(server) as connection:
        connection.send_message(message)


def write(resources: Resources, message: EmailMessage) -> Path:
    """Write an email to a new file that only its owner can read; return its path."""
    folder = resources.settings.data / "mail"
    make_folder(folder)
    sweep(resources, folder)
    time = f"{resources.clock():%Y-%m-%dT%H%M%SZ}"
    for number in count(1):
        path = folder / f"{time}-{number}.eml"
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        with os.fdopen(file, "wb") as stream:
            stream.write(bytes(message))
        return path
    raise AssertionError


def sweep(resources: Resources, folder: Path) -> None:
    """Delete old email files."""
    oldest = (resources.clock() - RETENTION).timestamp()
    for path in folder.glob("*.eml"):
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)
