"""A mail server of this machine without encryption, for the processes of a hub."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import default

from aiosmtpd.controller import Controller

from hub.tests.accounts.mails.test_mail import PATIENCE, Inbox
from hub.tests.campaign import wait_until
from tests.ports import free_port


@dataclass
class Postbox:
    """What a hub has sent."""

    inbox: Inbox
    port: int

    @property
    def environment(self) -> dict[str, str]:
        """Return the settings of a hub that sends its mail here."""
        server = f"smtp://127.0.0.1:{self.port}?tls=off"
        return {"CW_MAIL": server, "CW_MAIL_FROM": "hall@example.org"}

    def letters(self, words: str) -> dict[str, str]:
        """Return the texts of the mails whose subject has some words, by their addresses."""
        chosen = [one for one in list(self.inbox.mails) if words in str(one["Subject"])]
        parsed = [message_from_bytes(bytes(one), policy=default) for one in chosen]
        return {str(one["To"]): str(one.get_content()) for one in parsed}

    def wait_for(self, words: str, number: int) -> dict[str, str]:
        """Wait for the mails to so many people; return their texts by address."""
        wait_until(lambda: self.count(words) >= number, f"{number} mails {words!r}")
        return self.letters(words)

    def count(self, words: str) -> int:
        """Return how many mails have some words in their subject."""
        return sum(words in str(one["Subject"]) for one in list(self.inbox.mails))


@contextmanager
def open_postbox() -> Iterator[Postbox]:
    """Take mail while the block runs."""
    logging.getLogger("mail.log").setLevel(logging.WARNING)
    inbox = Inbox()
    controller = Controller(inbox, hostname="127.0.0.1", port=free_port(), ready_timeout=PATIENCE)
    controller.start()
    try:
        yield Postbox(inbox, controller.port)
    finally:
        controller.stop()
