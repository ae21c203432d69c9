"""Responses to polls (ETags and 304) and to visitors, cached for one or two seconds.

Polled state has a tag that changes with it. A process trusts a tag until the second in which it was
read is over. So any number of processes may respond; at worst, a client learns of a change a second
late.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from time import monotonic
from typing import Any, Final, NamedTuple, TypeAlias, cast

from flask import Flask, Response, current_app, g, jsonify, request, session

from cw_hub.pages.request import Remembered, may_be_late, resources

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


class Tags(Remembered[Polled]):
    """The states read in the current second, most of them without their responses."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Create an empty cache; the clock returns seconds."""
        super().__init__(MOST)
        self._clock = clock

    def second(self) -> int:
        """Return the current second: the revision of a state whose reading starts now."""
        return int(self._clock())


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
    second = tags.second()
    for key_for in (str, private_key):
        known = tags.get(key_for(key), second)
        if known is not None and request.if_none_match.contains(known.tag):
            return tagged(Response(status=304), known.tag)
    polled = look()
    key = key if polled.is_public else private_key(key)
    tags.put(key, polled._replace(value=None), second)
    response = tagged(jsonify(polled.value), polled.tag)
    response.make_conditional(request)
    return response


def answer_to_many(subject: str, look: Callable[[], Polled]) -> Response:
    """Respond to a poll by many clients that is costly to build, so it is built once per second.

    The response must be the same for all clients.
    """
    key = f"{key_of(subject)} whole"
    tags = cast(Tags, current_app.extensions["tags"])
    return answer(subject, lambda: tags.find(key, look, tags.second()))


def recently(subject: str, look: Callable[[], str]) -> str:
    """Return a public text about a subject, at most a second old."""
    tags = cast(Tags, current_app.extensions["tags"])
    return tags.find(key_of(subject), lambda: Polled(look(), None), tags.second()).tag


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


FRESH_FOR_VISITORS: Final = 2
"""Seconds for which a cached page is shown at most."""

MOST_BYTES: Final = 8 * 1024 * 1024
LONGEST: Final = 300
"""Maximum length of a cached page's path and query string, in characters."""

OVERHEAD: Final = 1000
"""Bytes that a cached page takes in addition to its text and its URL."""

PLAIN: Final = frozenset({"Content-Type", "Content-Length"})
"""The headers of an ordinary page."""

Key: TypeAlias = tuple[str, str]
"""The site's root URL, and the path with its query string."""


def size_of(page: bytes) -> int:
    """Return the size of a cached page in bytes."""
    return len(page) + LONGEST + OVERHEAD


def install_visitors(app: Flask, viewer: Callable[[], str], endpoints: Collection[str]) -> None:
    """Cache pages of some endpoints for visitors, for whom `viewer` returns "".

    Call it after all request guards have been added, and before the limits, so that cheap requests
    are not counted.
    """
    pages, remembered = Remembered[bytes](MOST_BYTES, size_of), frozenset(endpoints)

    def show() -> Response | None:
        if request.endpoint not in remembered or not is_anonymous():
            return None
        g.moment = present_moment()
        body = pages.get(key_of_request(), g.moment)
        if body is None:
            return None
        del g.moment
        answer = Response(body, mimetype="text/html")
        answer.vary.add("Cookie")
        return answer

    def remember(answer: Response) -> Response:
        moment = g.pop("moment", None)
        if moment is not None and is_for_all(answer) and not viewer():
            pages.put(key_of_request(), answer.get_data(), moment)
        return answer

    app.before_request(show)
    app.after_request(remember)


def present_moment() -> tuple[int, int]:
    """Return the revision of a page made now: how much this process has written, and the time."""
    seconds = int(resources().clock().timestamp())
    return resources().database.writes, seconds // FRESH_FOR_VISITORS


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
