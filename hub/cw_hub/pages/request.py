"""What a request needs: the resources of the process, and a single database session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, cast

from flask import Flask, current_app, g, request

from cw_hub.operation.resources import Resources
from cw_hub.store.database import Reading
from cw_hub.store.patience import FOR_PAGES, waiting

OF_NOBODY: Final = frozenset(
    {"home", "leaderboard", "match", "bots", "profile", "ranking", "tournaments", "cups", "api"}
)
"""Blueprints whose pages a visitor may see with a short delay.

Others need fresh data: who follows a link in a mail has no session yet.
"""


def install(app: Flask) -> None:
    """Close each request's session after it, and limit database waits to a page's patience."""
    app.teardown_request(close_reading)
    app.wsgi_app = in_time(app.wsgi_app)  # type: ignore[method-assign]


def in_time(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a WSGI app, limiting its database waits to the patience of pages."""

    def answer_in_time(environ: Any, start_response: Any) -> Any:
        # Streamed responses, such as exports, are sent outside of this block.
        with waiting(FOR_PAGES):
            return answer(environ, start_response)

    return answer_in_time


def resources() -> Resources:
    """Return the resources of the process."""
    return cast(Resources, current_app.extensions["hub"])


@contextmanager
def one_reading() -> Iterator[Reading]:
    """Yield a read-only session; a page that is shown has a single one.

    So a page is consistent, and starts a single transaction. A request that posts a form gets a new
    session each time, as it may have changed something itself.
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

    It may not for requesters who may have written something: those with a session or a token.
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
    """Close the session of a shown page."""
    g.pop("reading", None)
    g.pop("close_reading", lambda: None)()
