"""Lists of the admin area: one page of a query, loading only its rows."""

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
    """A page of a list, numbered from 1."""

    rows: Sequence[T]
    number: int
    has_more: bool


def page_of(
    session: Session,
    query: Select[*tuple[Any, ...]],
    number: int,
    row_of: Callable[[Row[*tuple[Any, ...]]], T],
) -> Page[T]:
    """Return a page of a query's results, in one statement; `row_of` converts each row."""
    first = (number - 1) * PER_PAGE
    rows = session.execute(query.limit(PER_PAGE + 1).offset(first)).all()
    return Page([row_of(row) for row in rows[:PER_PAGE]], number, len(rows) > PER_PAGE)
