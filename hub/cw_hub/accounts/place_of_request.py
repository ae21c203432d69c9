"""Identifies the browser (by a cookie) and the network of a request, and known places."""

from __future__ import annotations

import re
from datetime import timedelta
from secrets import token_urlsafe
from typing import Final

from flask import Response, after_this_request, current_app, request

from cw_hub.accounts import known_places
from cw_hub.pages.request import one_reading, resources
from cw_hub.pages.request_counts import network

LASTS: Final = timedelta(days=365)
"""Lifetime of the browser cookie."""

COOKIE: Final = re.compile("[A-Za-z0-9_-]{22}")


def cookie() -> str:
    """Return the name of the cookie that identifies a browser."""
    # Not `NAME-...`, the prefix of the cookies that indicate that a user is logged in.
    return f"{current_app.config['SESSION_COOKIE_NAME']}_browser"


def browser() -> str:
    """Return the id of this browser, or "" if it has no valid cookie."""
    value = request.cookies.get(cookie(), "")
    return value if COOKIE.fullmatch(value) else ""


def remember_here(user_id: int) -> None:
    """Remember this browser and its network as known places of a user who has just logged in."""
    hub, mine = resources(), browser() or token_urlsafe(16)
    secret = hub.secret_key
    here = (
        known_places.key_of(secret, "browser", mine),
        known_places.key_of(secret, "network", network()),
    )
    with hub.database.writing() as writing:
        known_places.remember(writing, user_id, here)

    @after_this_request
    def hold(answer: Response) -> Response:
        answer.set_cookie(
            cookie(),
            mine,
            max_age=LASTS,
            secure=current_app.config["SESSION_COOKIE_SECURE"],
            httponly=True,
            samesite="Lax",
        )
        return answer


def known_here(username: str) -> str:
    """Return this browser, or else its network, if an account has logged in from it, or "".

    Executes one query.
    """
    hub, mine = resources(), browser()
    here = {known_places.key_of(hub.secret_key, "network", network()): f"network {network()}"}
    if mine:
        here = {known_places.key_of(hub.secret_key, "browser", mine): f"browser {mine}", **here}
    with one_reading() as reading:
        its = known_places.known_places(reading, username, here)
    return next((words for place, words in here.items() if place in its), "")
