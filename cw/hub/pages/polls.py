"""Answers to scripts that poll: 304, without a query, while nothing has changed.

What is polled has a tag that changes whenever it does. For a second after it was read, a process
takes a tag for the present one. So any number of processes may answer: at worst a client learns
of something new a second late.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any, Final, NamedTuple, cast

from cachetools import TLRUCache
from flask import Flask, Response, current_app, jsonify, request

from cw.hub.pages.request import may_be_late, resources

FRESH: Final = 1.0
"""Seconds for which a tag counts as the present one."""

MOST: Final = 10_000
"""Tags that are remembered."""


class Polled(NamedTuple):
    """The present state of what is polled."""

    tag: str
    """Changes whenever the rest does."""
    value: Any
    """The answer, as JSON."""
    is_public: bool = True
    """Whether everybody gets the same answer; if not, the tag is remembered for one user alone."""


class ReadTag(NamedTuple):
    """A tag, and when reading it began."""

    tag: str
    began: float
    polled: Polled | None
    """What has it, where that is remembered too."""


class Tags:
    """The tags that were read within the last second, by key; shared by all threads."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Begin empty; the clock counts seconds."""
        self._clock = clock
        self._lock = Lock()
        self._tags: TLRUCache[str, ReadTag] = TLRUCache(
            MOST, ttu=lambda _key, read, _now: read.began + FRESH, timer=clock
        )

    def find(self, key: str) -> str | None:
        """Return the present tag, None if it was not read lately."""
        with self._lock:
            read = self._tags.get(key)
        return read and read.tag

    def polled(self, key: str) -> Polled | None:
        """Return what was remembered with the present tag, None if that is nothing."""
        with self._lock:
            read = self._tags.get(key)
        return read and read.polled

    def put(self, key: str, tag: str, began: float, polled: Polled | None = None) -> None:
        """Remember a tag, and what has it; the second counts from when reading it began."""
        with self._lock:
            self._tags[key] = ReadTag(tag, began, polled)

    def now(self) -> float:
        """Return the time, for `put`."""
        return self._clock()


def install(app: Flask, viewer: Callable[[], str]) -> None:
    """Let an app remember tags; `viewer` names who asks, "" for a visitor."""
    app.extensions["tags"] = Tags()
    app.extensions["viewer"] = viewer


def answer(subject: str, look: Callable[[], Polled]) -> Response:
    """Answer a poll: 304 if the client has the present state; `look` reads it, and may abort.

    Public state is answered before it is known who asks.
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
    """Answer a poll of what many wait for and is costly to make: it is made once in a second.

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
    """Return a public text about something, at most a second old."""
    key = key_of(subject)
    tags = cast(Tags, current_app.extensions["tags"])
    text = tags.find(key)
    if text is None:
        began = tags.now()
        text = look()
        tags.put(key, text, began)
    return text


def key_of(subject: str) -> str:
    """Return the key of a tag: a replica may lag behind, so its tags are apart."""
    return f"{subject} of the replica" if resources().replica and may_be_late() else subject


def private_key(key: str) -> str:
    """Return the key of a tag that only the one who asks is answered."""
    return f"{key} for {current_app.extensions['viewer']()}"


def tagged(response: Response, tag: str) -> Response:
    """Return an answer with its tag; who keeps it must ask again."""
    response.set_etag(tag)
    response.headers["Cache-Control"] = "private, no-cache"
    return response
