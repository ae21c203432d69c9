"""The mails of the hub: links to reset a password, and to confirm an address."""

from __future__ import annotations

import logging
import os
import smtplib
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from itertools import count
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from email_validator import validate_email

from cw.errors import Failure
from cw.files import make_folder
from cw.hub.resources import Resources
from cw.hub.services import people, tickets
from cw.hub.services.tickets import LinkKind
from cw.hub.settings import HubSettings

MAIL: Final = "mail"
"""The name of the job."""

PATIENCE: Final = 10
"""Seconds for one step of a conversation with a mail server."""

PAUSES: Final = (1, 4, 16, 64)
"""Minutes between the attempts to send a mail."""

KEPT: Final = timedelta(days=7)
"""How long mails that were written to files stay."""

SUBJECTS: Final = {"reset": "Reset password", "verify": "Confirm your e-mail address"}
REASONS: Final = {
    "reset": "You requested to change your End of Codes password. To reset your password, please"
    " click the following link:",
    "verify": "To confirm your e-mail address, please click the following link:",
}

HELP: Final = "If you keep having problems, just reply to this e-mail and we'll be happy to help."

log = logging.getLogger("cw.hub.mail")


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to a user, with its link."""

    to: str
    username: str
    kind: LinkKind
    link: str

    def body(self) -> str:
        """Return its text."""
        return "\n\n".join(
            (
                f"Hi {self.username},",
                REASONS[self.kind],
                self.link,
                HELP,
                "Best,",
                "The End of Codes Team.\n",
            )
        )


def send_link(resources: Resources, kind: LinkKind, user_id: int, attempt: int = 0) -> None:
    """Make a ticket for a user and mail it; who is locked, gone or without address gets nothing.

    When the mail cannot be sent its ticket is deleted, and after a pause all begins anew; after the
    last pause it is given up.
    """
    address = find_address(resources, user_id)
    if address is None:
        return
    with resources.database.writing() as session:
        ticket = tickets.issue_link(session, resources.clock, kind, user_id)
    link = link_to(resources.settings, kind, ticket)
    try:
        deliver(resources, Mail(address.email, address.username, kind, link))
    except (OSError, smtplib.SMTPException, Failure) as error:
        # The words of a server may name the address.
        log.warning("mail to user %s not sent: %s", user_id, type(error).__name__)
        with resources.database.writing() as session:
            tickets.revoke(session, ticket)
        try_again(resources, kind, user_id, attempt)


def try_again(resources: Resources, kind: LinkKind, user_id: int, attempt: int) -> None:
    """Put the job into the queue once more, for later."""
    if attempt < len(PAUSES):
        pause = PAUSES[attempt] * 60
        resources.queue.send(MAIL, kind, user_id, attempt + 1, after=pause)
    else:
        log.error("mail to user %s given up after %s attempts", user_id, attempt + 1)


def find_address(resources: Resources, user_id: int) -> people.Address | None:
    """Return where to write to a user."""
    with resources.database.reading() as session:
        return people.find_address(session, user_id)


def link_to(settings: HubSettings, kind: LinkKind, ticket: str) -> str:
    """Return the address of a link; no request has a say in it."""
    return f"{settings.address}/{kind}/{ticket}"


def deliver(resources: Resources, mail: Mail) -> None:
    """Send a mail, or write it to a file where no server is set."""
    message = compose(resources, mail)
    if resources.settings.mail:
        send(resources.settings.mail, message)
    else:
        path = write(resources, message)
        log.info("mail written to %s", path)
        show(resources.settings, mail)


def show(settings: HubSettings, mail: Mail) -> None:
    """Print a mail on the console of a local site, whose reader is its owner."""
    if settings.is_local:
        sys.stderr.write(f"\n{SUBJECTS[mail.kind]}\n\n{mail.body()}\n")


def compose(resources: Resources, mail: Mail) -> EmailMessage:
    """Return a mail as it is sent."""
    sender = resources.settings.mail_from
    message = EmailMessage()
    message["From"] = sender
    # A server that knows ASCII alone can be told of a domain in any script.
    message["To"] = validate_email(mail.to, check_deliverability=False).ascii_email
    message["Subject"] = SUBJECTS[mail.kind]
    message["Date"] = format_datetime(resources.clock())
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2])
    message.set_content(mail.body(), cte="7bit")
    return message


def send(server: str, message: EmailMessage) -> None:
    """Send a mail through a server; raises OSError or SMTPException."""
    with spoken_to(server) as speaking:
        speaking.send_message(message)


@contextmanager
def spoken_to(server: str) -> Iterator[smtplib.SMTP]:
    """Log in at a server, encrypted unless its address says `?tls=off`.

    Raises OSError or SMTPException.
    """
    address = urlsplit(server)
    host = address.hostname or ""
    context = ssl.create_default_context()
    if address.scheme == "smtps":
        connection: smtplib.SMTP = smtplib.SMTP_SSL(
            host, address.port or 465, timeout=PATIENCE, context=context
        )
    else:
        connection = smtplib.SMTP(host, address.port or 587, timeout=PATIENCE)
    with connection as speaking:
        if address.scheme == "smtp" and address.query != "tls=off":
            speaking.starttls(context=context)
        if address.username:
            speaking.login(unquote(address.username), unquote(address.password or ""))
        yield speaking


def write(resources: Resources, message: EmailMessage) -> Path:
    """Write a mail to a file of its own that its owner alone may read; return its path."""
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
    """Remove the mails of long ago."""
    oldest = (resources.clock() - KEPT).timestamp()
    for path in folder.glob("*.eml"):
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)
