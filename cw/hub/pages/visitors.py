"""Pages as visitors were shown them a moment ago.

Whoever shows neither a cookie nor a token gets the same page as all others. It is remembered for
two seconds, or until this process has written something, so that any number of visitors costs one
page. What belongs to one person is never remembered: a page that was made for somebody, that sets a
cookie (as each token of a form does), or whose policy has a nonce.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from threading import Lock
from typing import Final, NamedTuple, TypeAlias

from cachetools import LRUCache
from flask import Flask, Response, g, request, session

from cw.hub.pages.request import resources

FRESH: Final = timedelta(seconds=2)
MOST_BYTES: Final = 8 * 1024 * 1024
LONGEST: Final = 300
"""Characters of an address and a query whose page is remembered."""

OVERHEAD: Final = 1000
"""Bytes that a page takes beside its text and its address."""

PLAIN: Final = frozenset({"Content-Type", "Content-Length"})
"""The headers of a page that says nothing special."""

Key: TypeAlias = tuple[str, str]
"""Where the site was asked, and for what."""


class ShownPage(NamedTuple):
    """A page, and of which moment it is."""

    body: bytes
    read_at: datetime
    writes: int
    """The transactions that this process had written by then."""


class ShownPages:
    """The pages that were shown last; shared by all threads."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        """Begin empty; at most so many bytes are remembered."""
        self._lock = Lock()
        self._pages: LRUCache[Key, ShownPage] = LRUCache(most, size_of)

    def find(self, key: Key, now: datetime, writes: int) -> bytes | None:
        """Return a page that is fresh enough, None if there is none."""
        with self._lock:
            page = self._pages.get(key)
        is_fresh = page and page.writes == writes and abs(now - page.read_at) < FRESH
        return page.body if page and is_fresh else None

    def put(self, key: Key, page: ShownPage) -> None:
        """Remember a page, unless it is larger than all may be together."""
        with self._lock:
            if size_of(page) <= self._pages.maxsize:
                self._pages[key] = page


def size_of(page: ShownPage) -> int:
    """Return the bytes that a page takes."""
    return len(page.body) + LONGEST + OVERHEAD


def install(app: Flask, viewer: Callable[[], str], endpoints: Collection[str]) -> None:
    """Let an app remember the pages of some endpoints; `viewer` names who asks, "" for a visitor.

    To be called after the guards of all requests, and before the limits: what costs nothing is not
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
    """Return whether a request to read a page shows nothing of who asks."""
    shows = ("Cookie", "Authorization", "Range", "If-None-Match")
    return (
        request.method == "GET"
        and not any(name in request.headers for name in shows)
        and len(request.path) + len(request.query_string) <= LONGEST
    )


def key_of_request() -> Key:
    """Return what a page depends on: where the site was asked, and for what."""
    return request.root_url, f"{request.path}?{request.query_string.decode('latin-1')}"


def is_for_all(answer: Response) -> bool:
    """Return whether a page says the same to everybody."""
    return (
        answer.status_code == 200
        and answer.mimetype == "text/html"
        and not answer.is_streamed
        and not session.modified
        and "style_nonce" not in g
        and set(answer.headers.keys()) <= PLAIN
    )
