"""Downloads of replays in other formats."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response, abort, current_app, jsonify, request

from cw.replays.document import decode
from cw.server.guard import refuse_other_sites
from cw.web.replays.animations import Animations
from cw.web.replays.export import html
from cw.web.replays.replay_store import ReplayStore, StoredFile

routes = Blueprint("replay_forms", __name__, url_prefix="/replays")


@routes.get("/<replay:name>/page.html")
def page(name: str) -> Response:
    """Return the page that shows a replay without a server."""
    return form_of(name, "html", "text/html; charset=utf-8")


@routes.post("/<replay:name>/animation")
def progress(name: str) -> Response:
    """Start making the animation and return its progress; 503 while another one is made."""
    refuse_other_sites()
    answer = jsonify(msgspec.to_builtins(_animations().ask(_find(name))))
    answer.headers["Cache-Control"] = "no-store"
    return answer


@routes.get("/<replay:name>/animation.gif")
def animated(name: str) -> Response:
    """Return the animation of a whole replay; 503 while another one is made."""
    return form_of(name, "gif", "image/gif")


def form_of(name: str, form: str, kind: str) -> Response:
    """Return a file as a download; 304 if the client already has it."""
    stored = _find(name)
    tag = f"{form}-{stored.tag}"
    answer = Response(content_type=kind)
    answer.set_etag(tag)
    answer.headers["Cache-Control"] = "no-cache"
    if tag in request.if_none_match:
        answer.status_code = 304
        return answer
    if form == "html":
        answer.set_data(html(decode(stored.path.read_bytes())))
    else:
        answer.set_data(_animations().find(stored))
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return answer


def _find(name: str) -> StoredFile:
    store: ReplayStore = current_app.extensions["replay_store"]
    stored = store.find(name)
    if stored is None:
        abort(404, f"there is no replay {name!r}")
    return stored


def _animations() -> Animations:
    animations: Animations = current_app.extensions["animations"]
    return animations
