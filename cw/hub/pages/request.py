"""What a request works with: the resources of the process, and one reading of the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, cast

from flask import Flask, current_app, g, request

from cw.hub.operation.resources import Resources
from cw.hub.store.database import Reading
from cw.hub.store.patience import FOR_PAGES, waiting

OF_NOBODY: Final = frozenset(
    {"home", "leaderboard", "match", "bots", "profile", "ranking", "tournaments", "cups", "api"}
)
"""Blueprints whose pages a visitor may be shown as they were a moment ago.

Others need what was just written: who follows a link from a mail has no session yet.
"""


def install(app: Flask) -> None:
    """Let an app close what its requests have read with, and wait no longer than people do."""
    app.teardown_request(close_reading)
    app.wsgi_app = in_time(app.wsgi_app)  # type: ignore[method-assign]


def in_time(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return what answers requests, with the patience of pages for the database."""

    def answer_in_time(environ: Any, start_response: Any) -> Any:
        # What is sent part by part, such as an export, is not awaited by a page.
        with waiting(FOR_PAGES):
            return answer(environ, start_response)

    return answer_in_time


def resources() -> Resources:
    """Return what the process holds."""
    return cast(Resources, current_app.extensions["hub"])


@contextmanager
def one_reading() -> Iterator[Reading]:
    """Give a session that changes nothing; a page that is shown has one alone.

    So all of a page is of one moment, and the database is asked to begin but once. What posts a
    form reads anew each time, as it may have changed something itself.
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
    """Return whether it does not matter if what is shown was so a moment ago.

    It matters to those who may have written something: all who show a session or a token.
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
    """Close the session of a page that was shown."""
    g.pop("reading", None)
    g.pop("close_reading", lambda: None)()
