"""What happened in competitions, for those who follow a site with a feed reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from sqlalchemy.orm import Session

MOST_NEWS: Final = 30
"""Items of one format, and of all together."""


@dataclass(frozen=True, slots=True)
class NewsItem:
    """Something that happened, as everybody may know it."""

    id: str
    """Of this item alone, and for ever: a path of words."""
    at: datetime
    title: str
    text: str
    address: str
    """Of the page about it, on this site."""


News: TypeAlias = Callable[[Session], Iterable[NewsItem]]
"""Gives the latest items of a format, at most MOST_NEWS."""


def latest(session: Session, sources: Sequence[News]) -> list[NewsItem]:
    """Return the latest items of all sources, the latest first, at most MOST_NEWS."""
    items = (item for source in sources for item in source(session))
    return sorted(items, key=lambda item: item.at, reverse=True)[:MOST_NEWS]
