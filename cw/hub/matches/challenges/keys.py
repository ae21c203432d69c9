"""How the matches of a challenge are named: by its id, and by their place in it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, func

from cw.hub.store.tables import Match

NAME: Final = "challenge"

SERIES: Final = 10
"""Matches of a series: five seeds, each from both seats."""

LENGTHS: Final = (1, SERIES)
"""Of how many matches a challenge may be."""

ID_LENGTH: Final = 10


def new_id() -> str:
    """Return the name of a new challenge: `c_` and 8 hexadecimal digits."""
    return f"c_{secrets.token_hex(4)}"


def key_of(challenge: str, number: int) -> str:
    """Return why a match is played: as one of a challenge, counted from 0."""
    return f"{challenge} {number}"


def keys_of(challenge: str) -> Sequence[str]:
    """Return the keys that the matches of a challenge may have."""
    return [key_of(challenge, number) for number in range(SERIES)]


def challenger_slot(key: str) -> int:
    """Return the slot at which the challenger sits in a match: the first one, then in turn."""
    return int(key.partition(" ")[2]) % 2


def challenge_of(key: str) -> str:
    """Return the id of the challenge of a match."""
    return key.partition(" ")[0]


def challenge_column() -> ColumnElement[str]:
    """Return the id of the challenge of a match, for queries."""
    return func.substr(Match.key, 1, ID_LENGTH)
