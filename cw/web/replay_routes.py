"""Routes for replays: the list, a replay, its images, uploads, and downloads in other formats."""

from __future__ import annotations

import re
from datetime import date
from threading import Lock
from typing import Final

import msgspec
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

from cw.errors import CapacityError, ProtocolError
from cw.games.registry import game_entries
from cw.replays.document import Document, decode, digest, encode, parsed, unpacked
from cw.replays.document import checked as as_replay
from cw.replays.own_formats import is_of_a_game
from cw.server.app import CONTENT_SECURITY_POLICY
from cw.server.guard import refuse_other_sites
from cw.web.frames import game_title
from cw.web.replay_export import html
from cw.web.replay_pictures import Animations, Thumbnails
from cw.web.replay_store import (
    LONGEST,
    NAME,
    ReplayFilter,
    ReplayFolder,
    ReplayStore,
    ReplaySummary,
    Saved,
    StoredFile,
    summary_of,
)
from cw.web.settings import LARGEST_UPLOAD, revalidated

LARGEST_UNPACKED: Final = 16 * 1024 * 1024
"""Maximum unpacked size of an uploaded replay, in bytes; most have a tenth of that."""

MOST_PARTS: Final = 1_500_000
"""Maximum number of characters that start a value, as many empty lists are slow to parse."""


class Uploads:
    """Accepts replays one at a time, since reading a large one takes memory and time."""

    def __init__(self, folder: ReplayFolder) -> None:
        """Save uploads to a folder."""
        self._folder = folder
        self._lock = Lock()

    def save(self, data: bytes) -> Saved:
        """Save the replay in a file's bytes, packed or not, to the folder.

        Raises ProtocolError if it is not a replay, CapacityError if there is no room or another
        upload is in progress, and Failure if the folder cannot be written.
        """
        # Rejected instead of queued, because running matches need the server's threads.
        if not self._lock.acquire(blocking=False):
            raise CapacityError("another replay is being uploaded: try again in a few seconds")
        try:
            return self._folder.put(checked(data))
        finally:
            self._lock.release()


def checked(data: bytes) -> Document:
    """Return an uploaded replay that can be listed and drawn, and whose hash is correct.

    Raises ProtocolError otherwise. The match is not replayed, as that may take long.
    """
    plain = unpacked(data, LARGEST_UNPACKED)
    # Counting bytes is cheap, and is done before the parser allocates anything.
    if sum(map(plain.count, (b"[", b"{", b","))) > MOST_PARTS:
        raise ProtocolError("the replay has too many values to be uploaded here")
    payload = parsed(plain)
    if is_of_a_game(payload):
        raise ProtocolError(
            "the file is in its game's own format: `cw replay export FILE --json` converts it to "
            "one that can be uploaded"
        )
    document = as_replay(payload)
    if document["game"] not in game_entries():
        raise ProtocolError(f"this server has no game {document['game'][:64]!r}")
    try:
        summary_of(encode(document, packed=False))
        fits = digest(document) == document["hash"]
        date.fromisoformat(document["date"][:10])
    # Some values can be read but not written, because of deep nesting or very long numbers.
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        raise ProtocolError(f"the replay cannot be listed: {error}") from None
    if not fits:
        raise ProtocolError("the hash of the replay does not match what was played")
    return document


routes = Blueprint("replays", __name__, url_prefix="/replays")

NUMBER: Final = re.compile("[0-9]{1,6}")


class ReplayConverter(BaseConverter):
    """The name of a replay in a URL."""

    regex = NAME.pattern


@routes.get("/")
def index() -> Response:
    """Render a page of the replay list, with a form to open a file."""
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
    """Return a page number; 1 if the text is invalid."""
    return int(text) if NUMBER.fullmatch(text) else 1


@routes.post("/")
def save() -> Response:
    """Store a replay, sent as a form with one file or as the request body; return its name."""
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
    """Return the bytes of the file in a request; its file name is ignored."""
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
        # The page cannot change anything, so any site may embed it.
        page.headers["Content-Security-Policy"] = f"{CONTENT_SECURITY_POLICY}*"
    return page


@routes.get("/<replay:name>/document")
def document(name: str) -> Response:
    """Return a replay's JSON, gzipped if the client accepts that; 304 if unchanged."""
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
    """Return a replay's thumbnail; 304 if unchanged."""
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


form_routes = Blueprint("replay_forms", __name__, url_prefix="/replays")


@form_routes.get("/<replay:name>/page.html")
def page(name: str) -> Response:
    """Return a standalone page for a replay."""
    return form_of(name, "html", "text/html; charset=utf-8")


@form_routes.post("/<replay:name>/animation")
def progress(name: str) -> Response:
    """Start an animation and return its progress; 503 while another one is being made."""
    refuse_other_sites()
    answer = jsonify(msgspec.to_builtins(_animations().ask(_find_form(name))))
    answer.headers["Cache-Control"] = "no-store"
    return answer


@form_routes.get("/<replay:name>/animation.gif")
def animated(name: str) -> Response:
    """Return the animation of a whole replay; 503 while another one is being made."""
    return form_of(name, "gif", "image/gif")


def form_of(name: str, form: str, kind: str) -> Response:
    """Return a replay in another format as a download; 304 if the client already has it."""
    stored = _find_form(name)
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


def _find_form(name: str) -> StoredFile:
    store: ReplayStore = current_app.extensions["replay_store"]
    stored = store.find(name)
    if stored is None:
        abort(404, f"there is no replay {name!r}")
    return stored


def _animations() -> Animations:
    animations: Animations = current_app.extensions["animations"]
    return animations
