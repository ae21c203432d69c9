"""The response to a form with an invalid token: the reasons, and the typed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from flask import request

from cw_hub.pages.security import JOIN, WITH_ACCOUNTS, family

TITLE: Final = "Form expired"
WORDS: Final = (
    "Nothing has changed: this form is older than a day, or you have logged in or out since it was"
    " opened."
)
TOKEN: Final = "csrf_token"  # noqa: S105 - the name of a field


@dataclass(frozen=True, slots=True)
class TypedForm:
    """A submitted form that the user may send again."""

    action: str
    fields: tuple[tuple[str, str], ...]


def typed_form() -> TypedForm | None:
    """Return the form of this request, or None if it must not be repeated.

    That is a form of another site, which must not be sent by a click here; one with a password or
    a token, which no page repeats; and one with a file.
    """
    if is_secret() or has_file() or not is_own(request.origin):
        return None
    fields = tuple(pair for pair in request.form.items(multi=True) if pair[0] != TOKEN)
    return TypedForm(path_of(request.full_path), fields)


def is_secret() -> bool:
    """Return whether this request's form contains passwords or tokens."""
    return request.endpoint == JOIN or family(request.endpoint) in WITH_ACCOUNTS


def has_file() -> bool:
    """Return whether a file was sent; without a choice, browsers send an empty name."""
    return any(file.filename for file in request.files.values())


def is_own(address: str | None) -> bool:
    """Return whether an address is on this site."""
    return bool(address) and urlsplit(address).netloc == request.host


def page_before() -> str | None:
    """Return the path of the page with the form, or None if unknown."""
    return path_of(request.referrer) if is_own(request.referrer) else None


def path_of(address: str | None) -> str:
    """Return an address without its origin, and without an empty query."""
    parts = urlsplit(address or "")
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
