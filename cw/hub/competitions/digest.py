"""What a format tells of a day or a week to somebody who takes part, in a digest by mail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from sqlalchemy.orm import Session

from cw.hub.accounts.news.digests import Period

Digest: TypeAlias = Callable[[Session, str, int, Period], Iterable[str]]
"""Gives paragraphs about a period to a user, by the address of the site and the id of the user;
none if nothing has happened."""


def counted(number: int, thing: str) -> str:
    """Return a number of things, such as `1 match` and `2 matches`."""
    plural = f"{thing}es" if thing.endswith("ch") else f"{thing}s"
    return f"{number} {thing if number == 1 else plural}"


def tally(won: int, drawn: int, lost: int) -> str:
    """Return how matches have ended, without what did not happen: `3 won, 1 lost`."""
    parts = {"won": won, "drawn": drawn, "lost": lost}
    return ", ".join(f"{number} {word}" for word, number in parts.items() if number)
