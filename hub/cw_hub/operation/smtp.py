"""Connections to mail servers."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import unquote, urlsplit

PATIENCE: Final = 10
"""Timeout of each step of an exchange with a mail server, in seconds."""


@contextmanager
def connection_to(server: str) -> Iterator[smtplib.SMTP]:
    """Yield a connection, logged in if the URL has a user, encrypted unless it says `?tls=off`.

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
