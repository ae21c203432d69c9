"""Keys of cup matches, and of the objects stored for them."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import Final

from cw_hub.operation.resources import Resources

PREFIX: Final = "championships"
"""Prefix of the stored entrants and match results; no page links to these objects."""


def key_of(cup: str, match: str) -> str:
    """Return the key of a match, given its cup's slug and its name in the contest."""
    return f"{cup}/{sha256(match.encode()).hexdigest()[:32]}"


def cup_of(key: str) -> str:
    """Return the slug of the cup of a match."""
    return key.partition("/")[0]


def parcel_key(cup: str) -> str:
    """Return the key of the object that holds a cup's entrants."""
    return f"{PREFIX}/{cup}/entrants.json"


def program_key(cup: str, digest: str) -> str:
    """Return the key of a program's zip, stored once per cup."""
    return f"{PREFIX}/{cup}/programs/{digest}"


def outcome_key(key: str, attempt: int) -> str:
    """Return the key under which an attempt stores the result of a match."""
    return f"{PREFIX}/{key}-{attempt}.json.gz"


def forget(resources: Resources) -> int:
    """Delete old entrants and match results; return the number of objects deleted.

    By then, whoever runs the championship has long since fetched them.
    """
    age = timedelta(days=resources.settings.replay_days)
    keys = list(resources.objects.keys(PREFIX, resources.clock() - age))
    for key in keys:
        resources.objects.delete(key)
    return len(keys)
