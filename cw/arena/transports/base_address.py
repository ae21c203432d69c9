"""The base address of a bot that is a web service, checked without what its requests need."""

from __future__ import annotations

from urllib.parse import urlsplit

from yarl import URL

from cw.errors import UsageError


def check_base(base: str) -> str:
    """Return a base address without its last slash; raise UsageError if no server can be there."""
    try:
        parts = urlsplit(base)
        fine = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        plain = not (parts.username or parts.password or parts.query or parts.fragment)
        URL(base, encoded=True)
    except ValueError as error:
        raise UsageError(f"{base!r} is not an address of a bot: {error}") from None
    if not fine or not plain or not base.isascii() or not base.isprintable() or " " in base:
        example = "http://127.0.0.1:3000"
        raise UsageError(f"{base!r} is not an address of a bot (try {example})")
    return base.removesuffix("/")
