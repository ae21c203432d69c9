"""Uploaded images of forms, which are checked, re-encoded and stored."""

from __future__ import annotations

from typing import Final, cast

from flask import Flask, current_app, request

from cw.errors import CapacityError, UsageError
from cw_hub.accounts import avatars
from cw_hub.accounts.avatars import Pictures
from cw_hub.accounts.forms import NO_PICTURE
from cw_hub.accounts.picture_reader import Shape
from cw_hub.pages.request import resources
from cw_hub.pages.security import LARGEST_PICTURE

FIELD: Final = "picture"


def install(app: Flask) -> None:
    """Install the image reader in an app."""
    app.extensions["pictures"] = Pictures()


def keep(owner: str, data: bytes, shape: Shape = "square") -> str:
    """Store a re-encoded copy of an uploaded image; return its SHA-256. Idempotent.

    Raises UsageError if it is invalid or too large; CapacityError if others are being read.
    """
    picture = cast(Pictures, current_app.extensions["pictures"]).read(owner, data, shape)
    digest = avatars.digest_of(picture)
    resources().objects.put_new(avatars.key_of(digest), picture)
    return digest


def keep_upload(owner: str, shape: Shape = "square") -> str:
    """Store the form's image; return its SHA-256. A UsageError's message is shown to the user."""
    file = request.files.get(FIELD)
    try:
        return keep(owner, file.read(LARGEST_PICTURE + 1) if file else b"", shape)
    except CapacityError as error:
        raise UsageError(str(error)) from None
    except UsageError:
        raise UsageError(NO_PICTURE) from None


def has_upload() -> bool:
    """Return whether an image was selected in the form."""
    file = request.files.get(FIELD)
    return file is not None and bool(file.filename)
