"""When the certificate of the site expires, as a browser sees it."""

from __future__ import annotations

import socket
import ssl
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from cryptography.x509 import load_der_x509_certificate

from cw.errors import Failure
from cw_hub.operation.health import marks
from cw_hub.operation.resources import Resources

EVERY: Final = 3600.0
"""Seconds between two checks."""

PATIENCE: Final = 10.0
"""Seconds that the site has to answer."""


def note(resources: Resources) -> None:
    """Record when the certificate of the site's public address expires; do nothing for http.

    Raises Failure if it cannot be read; the recorded time then stays.
    """
    address = urlsplit(resources.settings.address)
    if address.scheme != "https":
        return
    ends = end_of(address.hostname or "", address.port or 443)
    with resources.database.writing() as session:
        marks.note(session, marks.CERTIFICATE, ends)


def end_of(host: str, port: int, patience: float = PATIENCE) -> datetime:
    """Return when a server's certificate expires; raise Failure if it cannot be read."""
    # Nothing is sent or trusted: expired and self-signed certificates are read too.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), timeout=patience) as plain,
            context.wrap_socket(plain, server_hostname=host) as connection,
        ):
            data = connection.getpeercert(binary_form=True) or b""
        return load_der_x509_certificate(data).not_valid_after_utc
    except (OSError, ValueError) as error:
        raise Failure(f"the certificate of {host}:{port} cannot be read: {error}") from None
