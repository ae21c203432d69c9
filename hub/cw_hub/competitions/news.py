"""Competition news, for followers of a site's feed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from sqlalchemy.orm import Session

MOST_NEWS: Final = 30
"""Maximum number of items, per format and in total."""


@dataclass(frozen=True, slots=True)
class NewsItem:
    """A public news item."""

    id: str
    """Permanent and unique: a path of words."""
    at: datetime
    title: str
    text: str
    address: str
    """Of the item's page on this site."""


News: TypeAlias = Callable[[Session], Iterable[NewsItem]]
"""Returns the latest items of a format, at most MOST_NEWS."""


def latest(session: Session, sources: Sequence[News]) -> list[NewsItem]:
    """Return the latest items of all sources, latest first, at most MOST_NEWS."""
    items = (item for source in sources for item in source(session))
    return sorted(items, key=lambda item: item.at, reverse=True)[:MOST_NEWS]
