"""A cache of pages for visitors.

All requests without a cookie or a token get the same page. It is cached for two seconds, or until
this process writes something, so that any number of visitors costs one page. Private content is
never cached: pages made for a user, pages that set a cookie (as each form token does), or pages
whose policy has a nonce.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from threading import Lock
from typing import Final, NamedTuple, TypeAlias

from cachetools import LRUCache
from flask import Flask, Response, g, request, session

from cw_hub.pages.request import resources

FRESH: Final = timedelta(seconds=2)
MOST_BYTES: Final = 8 * 1024 * 1024
LONGEST: Final = 300
"""Maximum length of a cached page's address and query, in characters."""

OVERHEAD: Final = 1000
"""Bytes that a page takes besides its text and its address."""

PLAIN: Final = frozenset({"Content-Type", "Content-Length"})
"""The headers of an ordinary page."""

Key: TypeAlias = tuple[str, str]
"""The requested site, and the path with its query."""


class ShownPage(NamedTuple):
    """A page, and the moment of its data."""

    body: bytes
    read_at: datetime
    writes: int
    """The number of transactions that this process had written by then."""


class ShownPages:
    """The most recently shown pages; shared by all threads."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        """Create an empty cache of at most `most` bytes."""
        self._lock = Lock()
        self._pages: LRUCache[Key, ShownPage] = LRUCache(most, size_of)

    def find(self, key: Key, now: datetime, writes: int) -> bytes | None:
        """Return a page that is fresh enough, or None."""
        with self._lock:
            page = self._pages.get(key)
        is_fresh = page and page.writes == writes and abs(now - page.read_at) < FRESH
        return page.body if page and is_fresh else None

    def put(self, key: Key, page: ShownPage) -> None:
        """Cache a page, unless it is larger than the whole cache."""
        with self._lock:
            if size_of(page) <= self._pages.maxsize:
                self._pages[key] = page


def size_of(page: ShownPage) -> int:
    """Return the size of a page in bytes."""
    return len(page.body) + LONGEST + OVERHEAD


def install(app: Flask, viewer: Callable[[], str], endpoints: Collection[str]) -> None:
    """Cache the pages of some endpoints; `viewer` returns the requester's name, "" for a visitor.

    Call it after the guards of all requests, and before the limits, so that cheap requests are not
    counted.
    """
    pages, remembered = ShownPages(), frozenset(endpoints)

    def show() -> Response | None:
        if request.endpoint not in remembered or not is_anonymous():
            return None
        g.moment = ShownPage(b"", resources().clock(), resources().database.writes)
        body = pages.find(key_of_request(), g.moment.read_at, g.moment.writes)
        if body is None:
            return None
        del g.moment
        answer = Response(body, mimetype="text/html")
        answer.vary.add("Cookie")
        return answer

    def remember(answer: Response) -> Response:
        moment: ShownPage | None = g.pop("moment", None)
        if moment is not None and is_for_all(answer) and not viewer():
            pages.put(key_of_request(), moment._replace(body=answer.get_data()))
        return answer

    app.before_request(show)
    app.after_request(remember)


def is_anonymous() -> bool:
    """Return whether a request for a page reveals nothing about its sender."""
    shows = ("Cookie", "Authorization", "Range", "If-None-Match")
    return (
        request.method == "GET"
        and not any(name in request.headers for name in shows)
        and len(request.path) + len(request.query_string) <= LONGEST
    )


def key_of_request() -> Key:
    """Return what a page depends on: the site, and the path with its query."""
    return request.root_url, f"{request.path}?{request.query_string.decode('latin-1')}"


def is_for_all(answer: Response) -> bool:
    """Return whether a page is the same for everybody."""
    return (
        answer.status_code == 200
        and answer.mimetype == "text/html"
        and not answer.is_streamed
        and not session.modified
        and "style_nonce" not in g
        and set(answer.headers.keys()) <= PLAIN
    )
