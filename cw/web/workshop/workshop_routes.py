"""The page of a workshop, and the files of its bot."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    make_response,
    render_template,
    request,
    url_for,
)

from cw import documents
from cw.errors import ProtocolError, UsageError
from cw.games.rules import Json
from cw.web.games.game_pages import game_page
from cw.web.games.game_routes import strategies
from cw.web.replays.replay_store import NAME
from cw.web.workshop.own_desk import OwnDesk
from cw.workshop.building import digest_of
from cw.workshop.folder import LARGEST_FILE, BotFolder, ChangedMeanwhile, TextFile
from cw.workshop.project import seats_of
from cw.workshop.series import FEWEST, MOST

routes = Blueprint("workshop", __name__, url_prefix="/workshop")

LARGEST_BODY: Final = 7 * LARGEST_FILE
"""Most bytes of a request that saves a file: JSON may take six for a character."""

NONCE_BYTES: Final = 16

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The editor adds its styles to the page with a nonce; scripts come from our files only."""

CHOOSE: Final = re.compile(r"\bchoose\w*\s*\(", re.IGNORECASE)
RETURN: Final = re.compile(r"^[ \t]*return\b", re.MULTILINE)


@routes.get("/<game:game>/")
def page(game: str) -> Response:
    """Return the page for writing and trying a bot."""
    desk = find(game)
    nonce = secrets.token_urlsafe(NONCE_BYTES)
    project = desk.project
    answer = make_response(
        render_template(
            "workshop/workshop.html",
            game=game,
            page=game_page(game),
            language=project.language,
            how=project.how,
            main=project.main,
            folder=project.folder.place.name,
            strategies=strategies(game),
            seats=range(1, seats_of(game) + 1),
            fewest=FEWEST,
            most=MOST,
            nonce=nonce,
            has_run=desk.last_run is not None,
            replay=replay_in(request.args, own_replay),
            replays=url_for("replays.index", game=game),
            first=first_steps_in(project.folder, project.main),
        )
    )
    answer.headers["Content-Security-Policy"] = POLICY.format(nonce=nonce)
    return fresh(answer)


class ShownReplay(NamedTuple):
    """A replay in whose positions the bot is tried."""

    name: str
    document: str
    """The address of its document."""
    page: str
    """The address of its page."""


def replay_in(
    arguments: Mapping[str, str], shown: Callable[[str], ShownReplay]
) -> ShownReplay | None:
    """Return the replay named in the address of a page, or None."""
    name = arguments.get("replay", "")
    return shown(name) if NAME.fullmatch(name) else None


def own_replay(name: str) -> ShownReplay:
    """Return a replay of this server."""
    addresses = (url_for(page, name=name) for page in ("replays.document", "replays.watch"))
    return ShownReplay(name, *addresses)


def first_steps_in(folder: BotFolder, main: str) -> dict[str, int]:
    """Return the lines of the main file worth changing first; none if the file is gone."""
    try:
        return first_steps(folder.read(main).text)
    except UsageError:
        return {}


def first_steps(text: str) -> dict[str, int]:
    """Return the lines of a main file worth changing first: where it chooses."""
    start = CHOOSE.search(text)
    answer = start and RETURN.search(text, start.end())
    places = {"choose": start, "answer": answer}
    return {name: line_of(place) for name, place in places.items() if place}


def line_of(place: re.Match[str]) -> int:
    """Return the number of the line, from 1, in which a match begins."""
    return place.string.count("\n", 0, place.start()) + 1


@routes.get("/<game:game>/files")
def files(game: str) -> Response:
    """Return the files of the bot, each with text and digest; 304 if unchanged."""
    desk = find(game)
    order = sorted(desk.project.folder.files(), key=desk.project.rank)
    answer = reply({"files": [file_document(file) for file in order]})
    answer.set_etag(digest_of(order))
    answer.make_conditional(request)
    return answer


class Saved(msgspec.Struct, frozen=True):
    """The body of a request to save a file."""

    text: str
    base: str
    """The digest of the content that was edited; "" for a new file."""


@routes.put("/<game:game>/files/<name>")
def save(game: str, name: str) -> Response:
    """Save a file; 409 with its current content if another program has changed it meanwhile."""
    folder = find(game).project.folder
    request.max_content_length = LARGEST_BODY
    saved = body(Saved)
    try:
        return reply(file_document(folder.save(name, saved.text, saved.base)))
    except ChangedMeanwhile as changed:
        now = None if changed.now is None else file_document(changed.now)
        return reply({"error": str(changed), "now": now}, 409)


def file_document(file: TextFile) -> dict[str, Json]:
    """Return a file for pages."""
    return {"name": file.name, "text": file.text, "digest": file.digest}


def find(game: str) -> OwnDesk:
    """Return the desk of a game; abort with 404 if it is not the workshop's."""
    desk: OwnDesk = current_app.extensions["desk"]
    if desk.project.game != game:
        abort(404, f"this workshop is for {desk.project.game}")
    return desk


def body(kind: type[Any]) -> Any:
    """Decode the body of a request; raise ProtocolError if invalid."""
    try:
        return documents.decode(request.get_data(cache=False), kind)
    except msgspec.DecodeError as error:
        raise ProtocolError(f"this cannot be read: {error}") from None


def reply(document: Json, code: int = 200) -> Response:
    """Answer with JSON."""
    return fresh(Response(msgspec.json.encode(document), code, content_type="application/json"))


def fresh(answer: Response) -> Response:
    """Disable caching of an answer."""
    answer.headers["Cache-Control"] = "no-store"
    return answer
