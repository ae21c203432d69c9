"""The page that all errors share; scripts and bots are answered in JSON."""

from __future__ import annotations

import logging
import re
from typing import Final

from flask import Flask, Response, g, make_response, render_template, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from markupsafe import Markup, escape
from werkzeug.exceptions import HTTPException, TooManyRequests

from cw.errors import ArenaError
from cw.hub.accounts.access.actor import VISITOR, actor
from cw.hub.api import problems
from cw.hub.pages import expired_forms, limiter
from cw.hub.pages.request import resources
from cw.hub.pages.security import SCRIPTED, family
from cw.hub.store.database import AWAY, reason
from cw.hub.store.objects import StoreAway
from cw.server.app import REFUSALS

log = logging.getLogger(__name__)

LINK: Final = re.compile(r"(/(?:reset|verify|email|unsubscribe)/)[^/?]+")
WORDS: Final = {
    404: "There is no such page.",
    405: "This page cannot be used that way.",
    413: "That is more than this page accepts.",
}
"""What is said where the error says nothing of its own."""


def install(app: Flask) -> None:
    """Let an app answer errors with the page."""
    app.register_error_handler(HTTPException, explain)
    app.register_error_handler(CSRFError, expire)
    app.register_error_handler(ArenaError, refuse)
    app.register_error_handler(StoreAway, fail)
    app.register_error_handler(Exception, fail)


def explain(error: HTTPException) -> ResponseReturnValue:
    """Answer an HTTP error with a sentence; a redirection stays as it is."""
    code = error.code or 500
    if code < 400 or error.response is not None:
        return error
    if isinstance(error, TooManyRequests):
        return refuse_more()
    plain = type(error).description == error.description
    words_by_code = problems.WORDS if problems.is_for_programs() else WORDS
    words = (words_by_code.get(code) if plain else None) or error.description or ""
    if isinstance(error, problems.Invalid):
        return problems.refusal(code, words, error.fields)
    response = answer(code, error.name, words)
    if code == 405:
        response.headers["Allow"] = ", ".join(getattr(error, "valid_methods", None) or ())
    return response


def refuse(error: ArenaError) -> Response:
    """Answer what was asked for and cannot be, cannot be now, or has failed."""
    code, title = next(row for kind, row in REFUSALS.items() if isinstance(error, kind))
    return answer(code, title, str(error))


def expire(_error: CSRFError) -> Response:
    """Answer a form whose token is not taken with the reasons, and with what was typed."""
    if problems.is_for_programs() or wants_json():
        return answer(400, expired_forms.TITLE, expired_forms.WORDS)
    meet()
    page = render_template(
        "hub/site/expired_form.html",
        title=expired_forms.TITLE,
        words=expired_forms.WORDS,
        form=expired_forms.typed_form(),
        before=expired_forms.page_before(),
    )
    response = make_response(page, 400)
    response.headers["Vary"] = "Accept"
    return response


def refuse_more() -> Response:
    """Answer who has met a limit with the time of its end."""
    moment = limiter.retry_at()
    now = resources().clock()
    seconds = max(1, int((moment - now).total_seconds()))
    words = limiter.too_many_words(moment)
    if problems.is_for_programs():
        message = escape(words).striptags()
        response = problems.refusal(429, message, limit=limiter.met(), retry_after=seconds)
    else:
        response = answer(429, "Too many requests", words)
    response.headers["Retry-After"] = str(seconds)
    user = actor().user
    log.info("limit address=%s user=%s", request.remote_addr, user.user_id if user else "-")
    return response


def fail(error: Exception) -> Response:
    """Answer a fault of ours; its number stands on the page and in the log."""
    # If it is not known yet who asks, looking for that may be what has failed.
    g.setdefault("actor", VISITOR)
    if isinstance(error, (*AWAY, StoreAway)):
        response = answer(503, "Not now", "The site cannot reach its store. Please try again soon.")
        response.headers["Retry-After"] = "10"
        log.warning("store away: %s", cause(error))
        return response
    number = g.request_id
    log.error("request %s failed: %s %s", number, request.method, masked_path(), exc_info=error)
    return answer(500, "Something has failed", f"The error is ours. It was logged as {number}.")


def cause(error: Exception) -> str:
    """Return what is away and why, in a line for the log alone."""
    if isinstance(error, AWAY):
        return f"the database does not answer: {reason(error)}"
    return str(error)


def masked_path() -> str:
    """Return the path that was asked for, without the ticket of a link."""
    return LINK.sub(r"\1...", request.path)


def answer(code: int, title: str, words: str | Markup) -> Response:
    """Answer with a page for people, with JSON for everyone else."""
    if problems.is_for_programs():
        return problems.refusal(code, escape(words).striptags())
    meet()
    if wants_json():
        body: ResponseReturnValue = ({"error": escape(words).striptags()}, code)
    else:
        body = (render_template("hub/site/error.html", title=title, words=words), code)
    response = make_response(body)
    response.headers["Vary"] = "Accept"
    return response


def meet() -> None:
    """Find out who asks; where that cannot be known now, the page is one for visitors."""
    try:
        actor()
    except AWAY:
        g.actor = VISITOR


def wants_json() -> bool:
    """Return whether a bot or a script asks."""
    kinds = ("text/html", "application/json")
    is_for_bots = family(request.endpoint) in SCRIPTED
    best = request.accept_mimetypes.best_match(kinds[::-1] if is_for_bots else kinds)
    return best == "application/json"
