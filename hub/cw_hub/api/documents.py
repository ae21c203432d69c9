"""API documents shared by several subjects, and the conversion of views to documents."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Generic, TypeVar

from msgspec import Struct

from cw_hub.matches.listings import Part

D = TypeVar("D", bound=Struct)
T = TypeVar("T")
U = TypeVar("U")


class List(Struct, Generic[T], frozen=True, kw_only=True):
    """A page of a list; `next` is the `after` of the next page, null at the end."""

    items: list[T]
    next: str | None


class BotStanding(Struct, frozen=True, kw_only=True):
    """A bot's standing in the rated competition of its game; `rating` is mu - 2 * phi."""

    rank: int | None
    of: int
    rating: float
    mu: float
    phi: float
    games: int
    won: int
    drawn: int
    lost: int
    last_match_at: datetime | None


def document(kind: type[D], view: object, /, **others: Any) -> D:
    """Return a document with the attributes of a view; `others` are fields with other names."""
    fields = {
        name: others[name] if name in others else getattr(view, name)
        for name in kind.__struct_fields__
    }
    return kind(**fields)


def list_of(part: Part[T], document_of: Callable[[T], U]) -> List[U]:
    """Return a page of a list as a document."""
    return List(items=[document_of(item) for item in part.items], next=part.next)
