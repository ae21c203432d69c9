"""Protection against other sites: refuses requests that browsers mark as cross-site."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from typing import Final, ParamSpec

from flask import Response, abort, current_app, request
from werkzeug.exceptions import MethodNotAllowed

from cw.server.settings import ServerSettings

P = ParamSpec("P")
OWN_PAGES = (None, "same-origin", "none")

REFUSAL: Final = (
    "pages of other sites cannot change anything here: use a program of your own, or start the"
    " server with --allow-origin and the address of that site, so that its pages may play"
)


def changes_the_game(view: Callable[P, Response]) -> Callable[P, Response]:
    """Refuse requests to a view from pages of other sites."""
    return _guarded(view, refuse_other_sites)


def plays(view: Callable[P, Response]) -> Callable[P, Response]:
    """Refuse requests to a view from pages of sites that may not play."""
    return _guarded(view, lambda: refuse_other_sites(_settings().origins))


def _guarded(view: Callable[P, Response], refuse: Callable[[], None]) -> Callable[P, Response]:
    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> Response:
        if request.method == "HEAD":
            why = "HEAD is not allowed: this route changes something"
            raise MethodNotAllowed(["GET", "OPTIONS"], why)
        refuse()
        return view(*args, **kwargs)

    return guarded


def refuse_other_sites(allowed: Collection[str] = ()) -> None:
    """Refuse, with 403, a request from a page of another site, except allowed origins.

    A plain HTTP client sends neither Origin nor Sec-Fetch-Site.
    """
    if not is_from_our_page() and request.headers.get("Origin") not in allowed:
        abort(403, REFUSAL)


def _settings() -> ServerSettings:
    settings: ServerSettings = current_app.extensions["settings"]
    return settings


def is_from_our_page() -> bool:
    """Return whether no browser marks this request as coming from a page of another origin."""
    origin, host = request.headers.get("Origin"), request.headers.get("Host")
    foreign = origin is not None and origin != f"{request.scheme}://{host}"
    return not foreign and request.headers.get("Sec-Fetch-Site") in OWN_PAGES
