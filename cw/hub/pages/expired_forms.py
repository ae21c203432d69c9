"""The answer to a form whose token is not valid: the reasons, and what was typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from flask import request

from cw.hub.pages.security import JOIN, WITH_ACCOUNTS, family

TITLE: Final = "Form expired"
WORDS: Final = (
    "Nothing has changed: this form is older than a day, or you have logged in or out since it was"
    " opened."
)
TOKEN: Final = "csrf_token"  # noqa: S105 - the name of a field


@dataclass(frozen=True, slots=True)
class TypedForm:
    """A form as it was sent, to be sent again by who looks at it."""

    action: str
    fields: tuple[tuple[str, str], ...]


def typed_form() -> TypedForm | None:
    """Return the form of this request.

    None for one of another site, which must not have it sent by a click; for one with a password
    or a token, which no page repeats; and for one with a file.
    """
    if is_secret() or has_file() or not is_own(request.origin):
        return None
    fields = tuple(pair for pair in request.form.items(multi=True) if pair[0] != TOKEN)
    return TypedForm(path_of(request.full_path), fields)


def is_secret() -> bool:
    """Return whether passwords or tokens are typed where this request goes."""
    return request.endpoint == JOIN or family(request.endpoint) in WITH_ACCOUNTS


def has_file() -> bool:
    """Return whether a file was sent; a browser names none where none was chosen."""
    return any(file.filename for file in request.files.values())


def is_own(address: str | None) -> bool:
    """Return whether an address is on this site."""
    return bool(address) and urlsplit(address).netloc == request.host


def page_before() -> str | None:
    """Return the path of the page with the form, None if that is not known."""
    return path_of(request.referrer) if is_own(request.referrer) else None


def path_of(address: str | None) -> str:
    """Return an address without its site, and without an empty query."""
    parts = urlsplit(address or "")
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
