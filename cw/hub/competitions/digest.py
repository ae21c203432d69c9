"""A format's contribution to digest mails: a participant's day or week."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from sqlalchemy.orm import Session

from cw.hub.accounts.news.digests import Period

Digest: TypeAlias = Callable[[Session, str, int, Period], Iterable[str]]
"""Returns paragraphs about a user's period, by site address and user id; none without news."""


def counted(number: int, thing: str) -> str:
    """Return a counted noun, such as `1 match` or `2 matches`."""
    plural = f"{thing}es" if thing.endswith("ch") else f"{thing}s"
    return f"{number} {thing if number == 1 else plural}"


def tally(won: int, drawn: int, lost: int) -> str:
    """Return match results without zero counts: `3 won, 1 lost`."""
    parts = {"won": won, "drawn": drawn, "lost": lost}
    return ", ".join(f"{number} {word}" for word, number in parts.items() if number)
