"""Lists of the area of admins: one page of a query, and no more rows than fit on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import Row, Select
from sqlalchemy.orm import Session

T = TypeVar("T")

PER_PAGE: Final = 50
"""Rows on a page."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list, counted from 1."""

    rows: Sequence[T]
    number: int
    has_more: bool


def page_of(
    session: Session,
    query: Select[*tuple[Any, ...]],
    number: int,
    row_of: Callable[[Row[*tuple[Any, ...]]], T],
) -> Page[T]:
    """Return a page of what a query gives, in one statement; each row is made by `row_of`."""
    first = (number - 1) * PER_PAGE
    rows = session.execute(query.limit(PER_PAGE + 1).offset(first)).all()
    return Page([row_of(row) for row in rows[:PER_PAGE]], number, len(rows) > PER_PAGE)
