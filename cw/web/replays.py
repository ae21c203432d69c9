"""The pages of replays: the list, the viewer, and the document that it draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    jsonify,
    make_response,
    render_template,
    request,
    send_file,
    url_for,
)
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.routing import BaseConverter

from cw.arena.replay import unpacked
from cw.errors import ProtocolError, Refused
from cw.games.catalogue import listings
from cw.web.guard import refuse_other_sites
from cw.web.intake import Intake
from cw.web.settings import LARGEST_UPLOAD
from cw.web.shelf import NAME, Entry, Shelf, Stand

routes = Blueprint("replays", __name__, url_prefix="/replays")

MOST_SHOWN: Final = 200
"""Rows of the list."""

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self';"
    " frame-ancestors "
)
"""The policy of pages, without who may show them within pages of theirs."""


class ReplayConverter(BaseConverter):
    """The name of a replay in an address."""

    regex = NAME.pattern


@routes.get("/")
def index() -> Response:
    """Give the list of replays, and a place to open a file."""
    entries, unreadable = _shelf().entries()
    found = [entry for entry in entries if fits(entry, request.args)]
    page = render_template(
        "replays.html",
        is_open=_shelf().is_open,
        entries=found[:MOST_SHOWN],
        more=len(found) - MOST_SHOWN,
        total=len(entries),
        unreadable=unreadable,
        games=sorted(listings()),
        reasons=sorted({entry.head.reason for entry in entries}),
        chosen=request.args,
        uploads=_intake() is not None,
        largest=LARGEST_UPLOAD,
    )
    return _fresh(page)


@routes.post("/")
def keep() -> Response:
    """Take a replay in, as a form with one file or as the body itself; give its name."""
    intake = _intake()
    if intake is None:
        abort(403, "this server keeps no replays; its owner allows it with --uploads")
    refuse_other_sites()
    try:
        kept = intake.keep(sent())
    except ProtocolError as error:
        abort(400, str(error))
    except Refused as refusal:
        abort(503, str(refusal))
    address = url_for("replays.watch", name=kept.name)
    answer = jsonify(name=kept.name, address=address, is_new=kept.is_new)
    answer.status_code = 201 if kept.is_new else 200
    answer.headers["Location"] = address
    return answer


def sent() -> bytes:
    """Give the bytes of the file that a request brings; nothing is asked of its name."""
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
    """Give the page on which a replay is watched."""
    _find(name)
    embedded = request.args.get("embed") == "1"
    page = _fresh(render_template("replay.html", name=name, embedded=embedded))
    if embedded:
        # Nothing can be changed on this page, so that any site may show it.
        page.headers["Content-Security-Policy"] = f"{CONTENT_SECURITY_POLICY}*"
    return page


@routes.get("/<replay:name>/document")
def document(name: str) -> Response:
    """Give a replay's document, packed where the client takes that; 304 if it is unchanged."""
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


def fits(entry: Entry, chosen: Mapping[str, str]) -> bool:
    """Tell whether a replay is one of those that were asked for."""
    head = entry.head
    player = chosen.get("player", "").casefold()
    return (
        chosen.get("game", "") in ("", head.game)
        and chosen.get("reason", "") in ("", head.reason)
        and any(player in seat.name.casefold() for seat in head.players)
    )


def _shelf() -> Shelf:
    shelf: Shelf = current_app.extensions["shelf"]
    return shelf


def _intake() -> Intake | None:
    intake: Intake | None = current_app.extensions["intake"]
    return intake


def _find(name: str) -> Stand:
    stand = _shelf().find(name)
    if stand is None:
        abort(404, f"there is no replay {name!r}")
    return stand


def _fresh(page: str) -> Response:
    answer = make_response(page)
    answer.headers["Cache-Control"] = "no-cache"
    return answer
