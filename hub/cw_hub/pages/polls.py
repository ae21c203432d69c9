"""Responses to polls (ETags and 304) and to visitors, cached for one or two seconds.

Polled state has a tag that changes with it. A process trusts a tag for a second after reading it.
So any number of processes may respond; at worst, a client learns of a change a second late.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from threading import Lock
from time import monotonic
from typing import Any, Final, NamedTuple, TypeAlias, cast

from cachetools import LRUCache, TLRUCache
from flask import Flask, Response, current_app, g, jsonify, request, session

from cw_hub.pages.request import may_be_late, resources

FRESH: Final = 1.0
"""Seconds for which a tag is trusted."""

MOST: Final = 10_000
"""Maximum number of cached tags."""


class Polled(NamedTuple):
    """The current state of a polled subject."""

    tag: str
    """A tag that changes whenever the rest does."""
    value: Any
    """The response, as JSON."""
    is_public: bool = True
    """Whether all clients get the same response; if not, the tag is cached for one user only."""


class ReadTag(NamedTuple):
    """A tag, and the time when reading it started."""

    tag: str
    began: float
    polled: Polled | None
    """The state with this tag, if it is cached too."""


class Tags:
    """The tags read within the last second, by key; shared by all threads."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Create an empty cache; the clock returns seconds."""
        self._clock = clock
        self._lock = Lock()
        self._tags: TLRUCache[str, ReadTag] = TLRUCache(
            MOST, ttu=lambda _key, read, _now: read.began + FRESH, timer=clock
        )

    def find(self, key: str) -> str | None:
        """Return the current tag, or None if it was not read recently."""
        with self._lock:
            read = self._tags.get(key)
        return read and read.tag

    def polled(self, key: str) -> Polled | None:
        """Return the state cached with the current tag, or None."""
        with self._lock:
            read = self._tags.get(key)
        return read and read.polled

    def put(self, key: str, tag: str, began: float, polled: Polled | None = None) -> None:
        """Cache a tag, and optionally its state, for one second from the start of reading."""
        with self._lock:
            self._tags[key] = ReadTag(tag, began, polled)

    def now(self) -> float:
        """Return the current time, for `put`."""
        return self._clock()


def install(app: Flask, viewer: Callable[[], str]) -> None:
    """Add a tag cache to an app; `viewer` returns the current user's id, or "" for a visitor."""
    app.extensions["tags"] = Tags()
    app.extensions["viewer"] = viewer


def answer(subject: str, look: Callable[[], Polled]) -> Response:
    """Respond to a poll, with 304 if the client is up to date; `look` reads the state or aborts.

    Public state is returned before the current user is identified.
    """
    key = key_of(subject)
    tags = cast(Tags, current_app.extensions["tags"])
    for key_for in (str, private_key):
        tag = tags.find(key_for(key))
        if tag is not None and request.if_none_match.contains(tag):
            return tagged(Response(status=304), tag)
    began = tags.now()
    polled = look()
    tags.put(key if polled.is_public else private_key(key), polled.tag, began)
    response = tagged(jsonify(polled.value), polled.tag)
    response.make_conditional(request)
    return response


def answer_to_many(subject: str, look: Callable[[], Polled]) -> Response:
    """Respond to a poll by many clients that is costly to build, so it is built once per second.

    The response must be the same for all clients.
    """
    key = f"{key_of(subject)} whole"
    tags = cast(Tags, current_app.extensions["tags"])

    def once() -> Polled:
        polled = tags.polled(key)
        if polled is None:
            began = tags.now()
            polled = look()
            tags.put(key, polled.tag, began, polled)
        return polled

    return answer(subject, once)


def recently(subject: str, look: Callable[[], str]) -> str:
    """Return a public text about a subject, at most a second old."""
    key = key_of(subject)
    tags = cast(Tags, current_app.extensions["tags"])
    text = tags.find(key)
    if text is None:
        began = tags.now()
        text = look()
        tags.put(key, text, began)
    return text


def key_of(subject: str) -> str:
    """Return the key of a tag; tags read from the replica are separate, as it may lag behind."""
    return f"{subject} of the replica" if resources().replica and may_be_late() else subject


def private_key(key: str) -> str:
    """Return the key of a tag that only the current user may get."""
    return f"{key} for {current_app.extensions['viewer']()}"


def tagged(response: Response, tag: str) -> Response:
    """Return a response with its tag; caches must revalidate it."""
    response.set_etag(tag)
    response.headers["Cache-Control"] = "private, no-cache"
    return response


FRESH_FOR_VISITORS: Final = timedelta(seconds=2)
MOST_BYTES: Final = 8 * 1024 * 1024
LONGEST: Final = 300
"""Maximum length of a cached page's path and query string, in characters."""

OVERHEAD: Final = 1000
"""Bytes that a cached page takes in addition to its text and its URL."""

PLAIN: Final = frozenset({"Content-Type", "Content-Length"})
"""The headers of an ordinary page."""

Key: TypeAlias = tuple[str, str]
"""The site's root URL, and the path with its query string."""


class ShownPage(NamedTuple):
    """A cached page, and the time when its data was read."""

    body: bytes
    read_at: datetime
    writes: int
    """The number of transactions that this process had written by then."""


class ShownPages:
    """Cache of the most recently shown pages; shared by all threads."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        """Create an empty cache of at most `most` bytes."""
        self._lock = Lock()
        self._pages: LRUCache[Key, ShownPage] = LRUCache(most, size_of)

    def find(self, key: Key, now: datetime, writes: int) -> bytes | None:
        """Return a page that is fresh enough, or None."""
        with self._lock:
            page = self._pages.get(key)
        is_fresh = page and page.writes == writes and abs(now - page.read_at) < FRESH_FOR_VISITORS
        return page.body if page and is_fresh else None

    def put(self, key: Key, page: ShownPage) -> None:
        """Cache a page, unless it is larger than the whole cache."""
        with self._lock:
            if size_of(page) <= self._pages.maxsize:
                self._pages[key] = page


def size_of(page: ShownPage) -> int:
    """Return the size of a page in bytes."""
    return len(page.body) + LONGEST + OVERHEAD


def install_visitors(app: Flask, viewer: Callable[[], str], endpoints: Collection[str]) -> None:
    """Cache pages of some endpoints for visitors, for whom `viewer` returns "".

    Call it after all request guards have been added, and before the limits, so that cheap requests
    are not counted.
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
    """Return whether a page request carries nothing that identifies its sender."""
    shows = ("Cookie", "Authorization", "Range", "If-None-Match")
    return (
        request.method == "GET"
        and not any(name in request.headers for name in shows)
        and len(request.path) + len(request.query_string) <= LONGEST
    )


def key_of_request() -> Key:
    """Return what a page depends on: the site's root URL, and the path with its query string."""
    return request.root_url, f"{request.path}?{request.query_string.decode('latin-1')}"


def is_for_all(answer: Response) -> bool:
    """Return whether a page is the same for all visitors."""
    return (
        answer.status_code == 200
        and answer.mimetype == "text/html"
        and not answer.is_streamed
        and not session.modified
        and "style_nonce" not in g
        and set(answer.headers.keys()) <= PLAIN
    )
