"""Keys of challenge matches: the challenge's id and the match's number in it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, func

from cw_hub.store.tables import Match

NAME: Final = "challenge"

SERIES: Final = 10
"""Matches in a series: five seeds, each from both seats."""

LENGTHS: Final = (1, SERIES)
"""Allowed numbers of matches in a challenge."""

ID_LENGTH: Final = 10


def new_id() -> str:
    """Return the id of a new challenge: `c_` and 8 hexadecimal digits."""
    return f"c_{secrets.token_hex(4)}"


def key_of(challenge: str, number: int) -> str:
    """Return the key of a challenge's match, which is numbered from 0."""
    return f"{challenge} {number}"


def keys_of(challenge: str) -> Sequence[str]:
    """Return all keys that matches of a challenge may have."""
    return [key_of(challenge, number) for number in range(SERIES)]


def challenger_slot(key: str) -> int:
    """Return the challenger's slot in a match: the first one, then alternating."""
    return int(key.partition(" ")[2]) % 2


def challenge_of(key: str) -> str:
    """Return the id of a match's challenge."""
    return key.partition(" ")[0]


def challenge_column() -> ColumnElement[str]:
    """Return the id of a match's challenge, as an SQL expression."""
    return func.substr(Match.key, 1, ID_LENGTH)
