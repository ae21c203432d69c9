"""Access to the process's resources and the request's database session; query parsers."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import date, datetime
from threading import Lock
from typing import Any, Final, Generic, TypeVar, cast

from cachetools import LRUCache
from flask import Flask, current_app, g, request
from werkzeug.routing import IntegerConverter

from cw_hub.operation.resources import Resources
from cw_hub.store.database import FOR_PAGES, Reading, waiting

OF_NOBODY: Final = frozenset(
    {"home", "leaderboard", "match", "bots", "profile", "ranking", "tournaments", "cups", "api"}
)
"""Blueprints whose pages a visitor may see with a short delay.

Others need fresh data: a user who follows an emailed link has no session yet.
"""


def install(app: Flask) -> None:
    """Close each request's session when it ends, and limit database waits to those for pages."""
    app.teardown_request(close_reading)
    app.wsgi_app = in_time(app.wsgi_app)  # type: ignore[method-assign]


def in_time(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a WSGI app to limit its database waits to the timeout for pages."""

    def answer_in_time(environ: Any, start_response: Any) -> Any:
        # Streamed responses, such as exports, are sent outside this block.
        with waiting(FOR_PAGES):
            return answer(environ, start_response)

    return answer_in_time


def resources() -> Resources:
    """Return the resources of the process."""
    return cast(Resources, current_app.extensions["hub"])


@contextmanager
def one_reading() -> Iterator[Reading]:
    """Yield a read-only session; GET and HEAD requests use a single one.

    This makes a page consistent, and starts only one transaction. A request that posts a form gets
    a new session each time, as it may have changed something itself.
    """
    if request.method not in ("GET", "HEAD"):
        with resources().database.reading() as opened:
            yield opened
        return
    if "reading" not in g:
        replica = resources().replica if may_be_late() else None
        source = replica or resources().database
        with ExitStack() as stack:
            g.reading = stack.enter_context(source.reading())
            g.close_reading = stack.pop_all().close
    yield g.reading


def may_be_late() -> bool:
    """Return whether the response may be slightly stale.

    It may not for users who may have written something: those with a session or a token.
    """
    name = current_app.config["SESSION_COOKIE_NAME"]
    is_known = any(cookie == name or cookie.startswith(f"{name}-") for cookie in request.cookies)
    return (
        request.method in ("GET", "HEAD")
        and request.blueprint in OF_NOBODY
        and not is_known
        and "Authorization" not in request.headers
    )


def close_reading(_: BaseException | None = None) -> None:
    """Close the session of a GET or HEAD request."""
    g.pop("reading", None)
    g.pop("close_reading", lambda: None)()


T = TypeVar("T")


class Remembered(Generic[T]):
    """Cache of the most recently used values, one revision of each; thread-safe.

    A value depends on its key and its revision alone; a moment may be part of the revision.
    """

    def __init__(self, most: int, size: Callable[[T], int] = lambda _: 1) -> None:
        """Create an empty cache; `most` bounds the sum of the sizes of its values."""
        self._lock = Lock()
        self._size = size
        self._values: LRUCache[Hashable, tuple[Hashable, T]] = LRUCache(
            most, lambda kept: size(kept[1])
        )

    def get(self, key: Hashable, revision: Hashable = None) -> T | None:
        """Return the value of a key at a revision, or None if it is missing."""
        with self._lock:
            kept = self._values.get(key)
        return kept[1] if kept is not None and kept[0] == revision else None

    def put(self, key: Hashable, value: T, revision: Hashable = None) -> None:
        """Cache a value in place of that of another revision, unless it exceeds the cache."""
        with self._lock:
            if self._size(value) <= self._values.maxsize:
                self._values[key] = revision, value

    def find(self, key: Hashable, make: Callable[[], T], revision: Hashable = None) -> T:
        """Return the value, computing it if it is missing; concurrent threads may both do so."""
        value = self.get(key, revision)
        if value is None:
            value = make()
            self.put(key, value, revision)
        return value


def minute(now: datetime) -> int:
    """Return a minute's number; in a revision, it keeps texts like `5 minutes ago` valid."""
    return int(now.timestamp()) // 60


DIGITS: Final = "[0-9]{1,9}"
"""The accepted integers: they fit the smallest columns, which have 32 bits."""

NUMBER: Final = re.compile(DIGITS)
LARGEST: Final = 999_999_999
MONTH: Final = re.compile("(2[0-9]{3})-(0[1-9]|1[0-2])")
"""A month from 2000-01 to 2999-12; each of them has a following one."""


def whole_number(text: str, least: int = 0, most: int = LARGEST) -> int | None:
    """Parse a number of up to nine digits; None if it is anything else or out of range."""
    number = int(text) if NUMBER.fullmatch(text) else None
    return number if number is not None and least <= number <= most else None


def first_of_month(text: str) -> date | None:
    """Parse a month such as `2026-11` to its first day; None for any other text."""
    month = MONTH.fullmatch(text)
    return date(int(month[1]), int(month[2]), 1) if month else None


class ShortInteger(IntegerConverter):
    """URL converter for an integer of at most nine digits, as in forms."""

    regex = DIGITS
