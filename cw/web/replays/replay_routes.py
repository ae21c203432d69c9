"""The pages of replays: the list, the viewer, and the document that it draws."""

from __future__ import annotations

import re
from typing import Final

from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    jsonify,
    render_template,
    request,
    send_file,
    url_for,
)
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.routing import BaseConverter

from cw.games.registry import game_entries
from cw.replays.document import unpacked
from cw.server.app import CONTENT_SECURITY_POLICY
from cw.server.guard import refuse_other_sites
from cw.web.answers import revalidated
from cw.web.games.game_files import game_title
from cw.web.replays.replay_store import NAME, ReplayFilter, ReplayStore, StoredFile
from cw.web.replays.replay_summary import LONGEST, ReplaySummary
from cw.web.replays.thumbnails import Thumbnails
from cw.web.replays.uploads import Uploads
from cw.web.settings import LARGEST_UPLOAD

routes = Blueprint("replays", __name__, url_prefix="/replays")

NUMBER: Final = re.compile("[0-9]{1,6}")


class ReplayConverter(BaseConverter):
    """The name of a replay in an address."""

    regex = NAME.pattern


@routes.get("/")
def index() -> Response:
    """Return a page of the list of replays, and a place to open a file."""
    replay_filter = ReplayFilter(
        *(request.args.get(key, "")[:LONGEST] for key in ("game", "player"))
    )
    page = render_template(
        "replays.html",
        is_open=_replay_store().is_open,
        listing=_replay_store().page(page_number(request.args.get("page", "")), replay_filter),
        wanted=replay_filter,
        titles={game: game_title(game) for game in sorted(game_entries())},
        uploads=_uploads() is not None,
        largest=LARGEST_UPLOAD,
    )
    return revalidated(page)


def page_number(text: str) -> int:
    """Read a page number; return 1 if invalid."""
    return int(text) if NUMBER.fullmatch(text) else 1


@routes.post("/")
def save() -> Response:
    """Store a replay, sent as a form with one file or as the body; return its name."""
    uploads = _uploads()
    if uploads is None:
        abort(403, "this server accepts no uploads; its owner can allow them with --uploads")
    refuse_other_sites()
    saved = uploads.save(sent())
    address = url_for("replays.watch", name=saved.name)
    answer = jsonify(name=saved.name, address=address, is_new=saved.is_new)
    answer.status_code = 201 if saved.is_new else 200
    answer.headers["Location"] = address
    return answer


def sent() -> bytes:
    """Return the bytes of the file in a request; its name is ignored."""
    try:
        if request.mimetype != "multipart/form-data":
            data = request.get_data(cache=False)
        else:
            file = next(iter(request.files.values()), None)
            data = b"" if file is None else file.read(LARGEST_UPLOAD + 1)
    except RequestEntityTooLarge:
        data = b" " * (LARGEST_UPLOAD + 1)
    if len(data) > LARGEST_UPLOAD:
        abort(413, f"a replay may have at most {LARGEST_UPLOAD} bytes here: pack it with gzip")
    return data


@routes.get("/<replay:name>")
def watch(name: str) -> Response:
    """Return the page for watching a replay."""
    stored = _find(name)
    embedded = request.args.get("embed") == "1"
    previous, following = (None, None) if embedded else _replay_store().neighbours(name)
    summary = None if embedded else _replay_store().summary(stored)
    game = summary.game if isinstance(summary, ReplaySummary) else None
    page = revalidated(
        render_template(
            "replay.html",
            name=name,
            game=game if game in game_entries() else None,
            embedded=embedded,
            previous=previous,
            following=following,
        )
    )
    if embedded:
        # Nothing can be changed on this page, so any site may show it.
        page.headers["Content-Security-Policy"] = f"{CONTENT_SECURITY_POLICY}*"
    return page


@routes.get("/<replay:name>/document")
def document(name: str) -> Response:
    """Return a replay's document, gzipped if the client accepts that; 304 if unchanged."""
    stand = _find(name)
    packed = stand.path.name.endswith(".gz")
    if packed and "gzip" not in request.headers.get("Accept-Encoding", ""):
        answer = Response(unpacked(stand.path.read_bytes()), mimetype="application/json")
        answer.set_etag(stand.tag)
        answer.make_conditional(request)
    else:
        answer = send_file(stand.path, "application/json", etag=stand.tag, last_modified=None)
        if packed:
            answer.headers["Content-Encoding"] = "gzip"
    answer.headers["Cache-Control"] = "no-cache"
    answer.headers["Vary"] = "Accept-Encoding"
    return answer


@routes.get("/<replay:name>/picture.png")
def picture(name: str) -> Response:
    """Return a small picture of a replay; 304 if unchanged."""
    file, dark = _find(name), request.args.get("dark") == "1"
    answer = Response(mimetype="image/png")
    tag = f"{'dark' if dark else 'light'}-{file.tag}"
    answer.headers["Cache-Control"] = "no-cache"
    if tag in request.if_none_match:
        answer.set_etag(tag)
        answer.status_code = 304
        return answer
    thumbnails: Thumbnails = current_app.extensions["thumbnails"]
    thumbnail = thumbnails.find(file, dark=dark)
    answer.set_data(thumbnail.data)
    answer.set_etag(tag if thumbnail.lasting else f"start-{tag}")
    return answer


def _replay_store() -> ReplayStore:
    replay_store: ReplayStore = current_app.extensions["replay_store"]
    return replay_store


def _uploads() -> Uploads | None:
    uploads: Uploads | None = current_app.extensions["uploads"]
    return uploads


def _find(name: str) -> StoredFile:
    stand = _replay_store().find(name)
    if stand is None:
        abort(404, f"there is no replay {name!r}")
    return stand
