"""Access to replays whose positions drafts may begin with; provided by the matches layer above."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from flask import Flask, current_app


@dataclass(frozen=True, slots=True)
class Replays:
    """How to reach the replays of a site by name."""

    key: Callable[[str], str]
    """Returns the key of the object; answers 404 if the requester may not see it."""
    address: Callable[[str], str]
    """Returns the address of the document."""
    page: Callable[[str], str]
    """Returns the address of the page that plays it."""


def install(app: Flask, replays: Replays) -> None:
    """Set the replays that the workshop of an app uses."""
    app.extensions["replays"] = replays


def known_replays() -> Replays:
    """Return the replays of this app."""
    return cast(Replays, current_app.extensions["replays"])
