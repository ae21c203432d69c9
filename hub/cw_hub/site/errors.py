"""Error handlers: one page for all errors, or JSON for scripts and bots."""

from __future__ import annotations

import logging
from typing import Final

from flask import Flask, Response, g, make_response, render_template, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from markupsafe import Markup, escape
from werkzeug.exceptions import HTTPException, TooManyRequests

from cw.errors import ArenaError
from cw.server.app import REFUSALS
from cw_hub import api
from cw_hub.accounts.actor import VISITOR, actor
from cw_hub.pages import layout, request_counts
from cw_hub.pages.request import resources
from cw_hub.pages.security import SCRIPTED, family
from cw_hub.site.monitoring import masked_path
from cw_hub.store.database import AWAY, reason
from cw_hub.store.objects import StoreAway

log = logging.getLogger(__name__)

WORDS: Final = {
    404: "There is no such page.",
    405: "This page does not support that method.",
    413: "This request is too large.",
}
"""Messages for errors without their own."""
STORE_AWAY: Final = "The site cannot reach its storage. Please try again soon."


def install(app: Flask) -> None:
    """Register the error handlers of an app."""
    app.register_error_handler(HTTPException, explain)
    app.register_error_handler(CSRFError, expire)
    app.register_error_handler(ArenaError, refuse)
    app.register_error_handler(StoreAway, fail)
    app.register_error_handler(Exception, fail)


def explain(error: HTTPException) -> ResponseReturnValue:
    """Respond to an HTTP error with a message; pass redirects through."""
    code = error.code or 500
    if code < 400 or error.response is not None:
        return error
    if isinstance(error, TooManyRequests):
        return refuse_more()
    plain = type(error).description == error.description
    words_by_code = api.WORDS if api.is_for_programs() else WORDS
    words = (words_by_code.get(code) if plain else None) or error.description or ""
    if isinstance(error, api.Invalid):
        return api.refusal(code, words, error.fields)
    response = answer(code, error.name, words)
    if code == 405:
        response.headers["Allow"] = ", ".join(getattr(error, "valid_methods", None) or ())
    return response


def refuse(error: ArenaError) -> Response:
    """Respond to a request that is invalid, not possible now, or failed."""
    code, title = next(row for kind, row in REFUSALS.items() if isinstance(error, kind))
    return answer(code, title, str(error))


def expire(_error: CSRFError) -> Response:
    """Respond to a form with an invalid token: show possible reasons, and the user's input."""
    if api.is_for_programs() or wants_json():
        return answer(400, layout.TITLE, layout.WORDS)
    meet()
    page = render_template(
        "hub/site/expired_form.html",
        title=layout.TITLE,
        words=layout.WORDS,
        form=layout.typed_form(),
        before=layout.page_before(),
    )
    response = make_response(page, 400)
    response.headers["Vary"] = "Accept"
    return response


def refuse_more() -> Response:
    """Respond to a client over a rate limit; say when the limit ends."""
    moment = request_counts.retry_at()
    now = resources().clock()
    seconds = max(1, int((moment - now).total_seconds()))
    words = request_counts.too_many_words(moment)
    if api.is_for_programs():
        message = escape(words).striptags()
        response = api.refusal(429, message, limit=request_counts.met(), retry_after=seconds)
    else:
        response = answer(429, "Too many requests", words)
    response.headers["Retry-After"] = str(seconds)
    user = actor().user
    log.info("limit address=%s user=%s", request.remote_addr, user.user_id if user else "-")
    return response


def fail(error: Exception) -> Response:
    """Respond to an internal error; its number is shown on the page and logged."""
    # If the current user is not known yet, looking them up may be what failed.
    g.setdefault("actor", VISITOR)
    if isinstance(error, (*AWAY, StoreAway)):
        response = answer(503, "Temporarily unavailable", STORE_AWAY)
        response.headers["Retry-After"] = "10"
        log.warning("store cannot be reached: %s", cause(error))
        return response
    number = g.request_id
    log.error("request %s failed: %s %s", number, request.method, masked_path(), exc_info=error)
    return answer(500, "Something went wrong", f"An error on our side, logged as {number}.")


def cause(error: Exception) -> str:
    """Return what is unavailable and why, for the log only."""
    if isinstance(error, AWAY):
        return f"the database does not answer: {reason(error)}"
    return str(error)


def answer(code: int, title: str, words: str | Markup) -> Response:
    """Respond with a page for browsers, or JSON for programs."""
    if api.is_for_programs():
        return api.refusal(code, escape(words).striptags())
    meet()
    if wants_json():
        body: ResponseReturnValue = ({"error": escape(words).striptags()}, code)
    else:
        body = (render_template("hub/site/error.html", title=title, words=words), code)
    response = make_response(body)
    response.headers["Vary"] = "Accept"
    return response


def meet() -> None:
    """Identify the current user; if that is impossible now, treat them as a visitor."""
    try:
        actor()
    except AWAY:
        g.actor = VISITOR


def wants_json() -> bool:
    """Return whether a bot or a script sent the request."""
    kinds = ("text/html", "application/json")
    is_for_bots = family(request.endpoint) in SCRIPTED
    best = request.accept_mimetypes.best_match(kinds[::-1] if is_for_bots else kinds)
    return best == "application/json"
