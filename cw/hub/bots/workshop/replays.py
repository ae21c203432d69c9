"""Replays whose positions drafts may begin with: matches, which lie above bots, give them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from flask import Flask, current_app


@dataclass(frozen=True, slots=True)
class Replays:
    """How the replays of a site are reached by their names."""

    key: Callable[[str], str]
    """Returns the key of the object; answers 404 for what the one who asks may not see."""
    address: Callable[[str], str]
    """Returns where a page reads the document."""
    page: Callable[[str], str]
    """Returns where it is watched."""


def install(app: Flask, replays: Replays) -> None:
    """Let the workshop of an app know its replays."""
    app.extensions["replays"] = replays


def known_replays() -> Replays:
    """Return the replays of this app."""
    return cast(Replays, current_app.extensions["replays"])
