"""Answers to polling scripts: 304, without a query, while nothing has changed.

Polled state has a tag that changes with it. A process trusts a tag for a second after reading it.
So any number of processes may answer; at worst, a client learns of a change a second late.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any, Final, NamedTuple, cast

from cachetools import TLRUCache
from flask import Flask, Response, current_app, jsonify, request

from cw_hub.pages.request import may_be_late, resources

FRESH: Final = 1.0
"""Seconds for which a tag is trusted."""

MOST: Final = 10_000
"""Maximum number of cached tags."""


class Polled(NamedTuple):
    """The present state of a polled subject."""

    tag: str
    """Changes with the rest."""
    value: Any
    """The answer, as JSON."""
    is_public: bool = True
    """Whether everybody gets the same answer; if not, the tag is cached for one user only."""


class ReadTag(NamedTuple):
    """A tag, and when its reading began."""

    tag: str
    began: float
    polled: Polled | None
    """The state with this tag, if that is cached too."""


class Tags:
    """The tags read within the last second, by key; shared by all threads."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Create an empty cache; the clock counts seconds."""
        self._clock = clock
        self._lock = Lock()
        self._tags: TLRUCache[str, ReadTag] = TLRUCache(
            MOST, ttu=lambda _key, read, _now: read.began + FRESH, timer=clock
        )

    def find(self, key: str) -> str | None:
        """Return the present tag, or None if it was not read recently."""
        with self._lock:
            read = self._tags.get(key)
        return read and read.tag

    def polled(self, key: str) -> Polled | None:
        """Return the state cached with the present tag, or None."""
        with self._lock:
            read = self._tags.get(key)
        return read and read.polled

    def put(self, key: str, tag: str, began: float, polled: Polled | None = None) -> None:
        """Cache a tag, and optionally its state; its second starts when reading began."""
        with self._lock:
            self._tags[key] = ReadTag(tag, began, polled)

    def now(self) -> float:
        """Return the time, for `put`."""
        return self._clock()


def install(app: Flask, viewer: Callable[[], str]) -> None:
    """Add a cache of tags to an app; `viewer` returns the requester's name, "" for a visitor."""
    app.extensions["tags"] = Tags()
    app.extensions["viewer"] = viewer


def answer(subject: str, look: Callable[[], Polled]) -> Response:
    """Answer a poll, with 304 if the client has the present state; `look` reads it, and may abort.

    Public state is answered before the requester is identified.
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
    """Answer a poll of many clients that is costly to build, so it is built once per second.

    It must be the same for everybody.
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
    """Return the key of a tag; tags of the replica are separate, as it may lag behind."""
    return f"{subject} of the replica" if resources().replica and may_be_late() else subject


def private_key(key: str) -> str:
    """Return the key of a tag that only the requester may get."""
    return f"{key} for {current_app.extensions['viewer']()}"


def tagged(response: Response, tag: str) -> Response:
    """Return a response with its tag; caches must revalidate it."""
    response.set_etag(tag)
    response.headers["Cache-Control"] = "private, no-cache"
    return response
