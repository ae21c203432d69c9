"""Answers to scripts that ask again and again: 304, without a query, while nothing has changed.

What is polled has a tag that differs whenever it does. A tag that was read counts as the present
one for a second, in the process that has read it. So any number of processes may answer: at worst
who polls is told a second late that there is something new, and what is told then was read then.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any, Final, NamedTuple, cast

from flask import Flask, Response, current_app, jsonify, request

from cw.hub.pages.actor import actor, may_be_late, resources

FRESH: Final = 1.0
"""Seconds for which a tag counts as the present one."""

MOST: Final = 10_000
"""Tags that are remembered."""


class Polled(NamedTuple):
    """What is polled, as it stands."""

    tag: str
    """What differs whenever the rest does."""
    value: Any
    """What is answered, as JSON."""
    is_public: bool = True
    """Whether everybody is answered the same; if not, the tag is remembered for one user alone."""


class Tags:
    """The tags that were read lately, by what they are of; to be shared by all threads."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Remember none; the clock counts seconds."""
        self._clock = clock
        self._lock = Lock()
        self._kept: dict[str, tuple[str, float]] = {}

    def find(self, of: str) -> str | None:
        """Return the present tag, None if it was not read lately."""
        tag, until = self._kept.get(of, (None, 0.0))
        return tag if self._clock() < until else None

    def keep(self, of: str, tag: str, asked: float) -> None:
        """Remember a tag that was asked for at this time."""
        with self._lock:
            if len(self._kept) >= MOST:
                self._kept.clear()
            self._kept[of] = tag, asked + FRESH

    def now(self) -> float:
        """Return the time, for `keep`."""
        return self._clock()


def install(app: Flask) -> None:
    """Let an app remember tags."""
    app.extensions["tags"] = Tags()


def answer(of: str, look: Callable[[], Polled]) -> Response:
    """Answer a poll: 304 if the client has what there is; `look` finds out, and may refuse.

    What everybody may see is answered before it is known who asks.
    """
    of = where_read(of)
    tags = cast(Tags, current_app.extensions["tags"])
    for key_of in (str, own):
        tag = tags.find(key_of(of))
        if tag is not None and request.if_none_match.contains(tag):
            return tagged(Response(status=304), tag)
    asked = tags.now()
    polled = look()
    tags.keep(of if polled.is_public else own(of), polled.tag, asked)
    told = tagged(jsonify(polled.value), polled.tag)
    told.make_conditional(request)
    return told


def recently(of: str, look: Callable[[], str]) -> str:
    """Return what everybody is shown of something, as it was within the last second."""
    of = where_read(of)
    tags = cast(Tags, current_app.extensions["tags"])
    known = tags.find(of)
    if known is None:
        asked = tags.now()
        known = look()
        tags.keep(of, known, asked)
    return known


def where_read(of: str) -> str:
    """Return the key of what is read: a replica that is behind says nothing of the database."""
    return f"{of} of the replica" if resources().replica and may_be_late() else of


def own(of: str) -> str:
    """Return the key of what the one who asks is answered alone."""
    user = actor().user
    return f"{of} for {user.user_id if user else 0}"


def tagged(response: Response, tag: str) -> Response:
    """Return an answer with its tag; who keeps it must ask again."""
    response.set_etag(tag)
    response.headers["Cache-Control"] = "private, no-cache"
    return response
