"""Replays of the server in other forms, to be saved."""

from __future__ import annotations

from threading import Lock
from typing import Final

from flask import Blueprint, Response, abort, current_app, request

from cw.errors import CapacityError
from cw.pictures.exports import animation
from cw.replays.document import Document, decode
from cw.web.export import drawn, html
from cw.web.replay_store import ReplayStore

routes = Blueprint("replay_forms", __name__, url_prefix="/replays")

SPEED: Final = 8
"""Turns a second of an animation."""

painting: Final = Lock()
"""Whoever holds it makes an animation: one at a time, for each takes a core for seconds."""


@routes.get("/<replay:name>/page.html")
def page(name: str) -> Response:
    """Return the page that shows a replay without a server."""
    return form_of(name, "html", "text/html; charset=utf-8")


@routes.get("/<replay:name>/animation.gif")
def animated(name: str) -> Response:
    """Return the animation of a whole replay; 503 while another one is made."""
    return form_of(name, "gif", "image/gif")


def form_of(name: str, form: str, kind: str) -> Response:
    """Return a file to save, or 304 where the client has it already."""
    store: ReplayStore = current_app.extensions["replay_store"]
    stored = store.find(name)
    if stored is None:
        abort(404, f"there is no replay {name!r}")
    tag = f"{form}-{stored.tag}"
    answer = Response(content_type=kind)
    answer.set_etag(tag)
    answer.headers["Cache-Control"] = "no-cache"
    if tag in request.if_none_match:
        answer.status_code = 304
        return answer
    document = decode(stored.path.read_bytes())
    answer.set_data(html(document) if form == "html" else gif(document))
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return answer


def gif(document: Document) -> bytes:
    """Return the animation of a replay; raise CapacityError while another one is made."""
    if not painting.acquire(blocking=False):
        raise CapacityError("another animation is being made: try again in a few seconds")
    try:
        return animation(drawn(document), (0, -1), SPEED).data
    finally:
        painting.release()
