"""Where matches of cups, and what is sent for them, are found."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import Final

from cw.hub.operation.resources import Resources

PREFIX: Final = "championships"
"""Where objects lie that entrants are sent with, and what came of matches; nothing links there."""


def key_of(cup: str, match: str) -> str:
    """Return the key of a match by the slug of its cup and the name that the contest gives it."""
    return f"{cup}/{sha256(match.encode()).hexdigest()[:32]}"


def cup_of(key: str) -> str:
    """Return the slug of the cup of a match."""
    return key.partition("/")[0]


def parcel_key(cup: str) -> str:
    """Return where the object lies that the entrants of a cup are sent with."""
    return f"{PREFIX}/{cup}/entrants.json"


def program_key(cup: str, digest: str) -> str:
    """Return where the zip of a program lies: once for its cup."""
    return f"{PREFIX}/{cup}/programs/{digest}"


def outcome_key(key: str, attempt: int) -> str:
    """Return where an attempt leaves all that came of a match."""
    return f"{PREFIX}/{key}-{attempt}.json.gz"


def forget(resources: Resources) -> int:
    """Delete what entrants were sent with, and how their matches ended, after some time.

    Those who run championships have fetched it long ago. Returns how many objects there were.
    """
    age = timedelta(days=resources.settings.replay_days)
    keys = list(resources.objects.keys(PREFIX, resources.clock() - age))
    for key in keys:
        resources.objects.delete(key)
    return len(keys)
