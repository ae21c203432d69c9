"""The pages and API of a workshop, and the gate that protects a local one from other sites."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import msgspec
from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)

from cw import documents
from cw.errors import ProtocolError, UsageError
from cw.games.rules import Json
from cw.web.games import game_page, strategies
from cw.web.replay_store import NAME
from cw.web.workshop import Desk, FindDesk, OwnDesk, Turn, WantedRun
from cw.workshop.project import LARGEST_FILE, BotFolder, ChangedMeanwhile, TextFile, seats_of
from cw.workshop.runs import FEWEST, MOST, digest_of

routes = Blueprint("workshop", __name__, url_prefix="/workshop")

LARGEST_BODY: Final = 7 * LARGEST_FILE
"""Maximum size of a request that saves a file; JSON may take six bytes per character."""

NONCE_BYTES: Final = 16

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The editor adds its styles to the page with a nonce; scripts are loaded only from our files."""

CHOOSE: Final = re.compile(r"\bchoose\w*\s*\(", re.IGNORECASE)
RETURN: Final = re.compile(r"^[ \t]*return\b", re.MULTILINE)


@routes.get("/<game:game>/")
def page(game: str) -> Response:
    """Render the page for writing and testing a bot."""
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
    """A replay from whose positions the bot is tried."""

    name: str
    document: str
    """The URL of its JSON."""
    page: str
    """The URL of its page."""


def replay_in(
    arguments: Mapping[str, str], shown: Callable[[str], ShownReplay]
) -> ShownReplay | None:
    """Return the replay named in the query arguments of a page, or None."""
    name = arguments.get("replay", "")
    return shown(name) if NAME.fullmatch(name) else None


def own_replay(name: str) -> ShownReplay:
    """Return one of this server's replays."""
    addresses = (url_for(page, name=name) for page in ("replays.document", "replays.watch"))
    return ShownReplay(name, *addresses)


def first_steps_in(folder: BotFolder, main: str) -> dict[str, int]:
    """Return the main file's lines worth changing first; {} if the file no longer exists."""
    try:
        return first_steps(folder.read(main).text)
    except UsageError:
        return {}


def first_steps(text: str) -> dict[str, int]:
    """Return the lines of a main file worth changing first: those that choose an action."""
    start = CHOOSE.search(text)
    answer = start and RETURN.search(text, start.end())
    places = {"choose": start, "answer": answer}
    return {name: line_of(place) for name, place in places.items() if place}


def line_of(place: re.Match[str]) -> int:
    """Return the number of the line, from 1, in which a regex match starts."""
    return place.string.count("\n", 0, place.start()) + 1


@routes.get("/<game:game>/files")
def files(game: str) -> Response:
    """Return the bot's files, each with text and digest; 304 if unchanged."""
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
    """The digest of the content on which the edit is based; "" for a new file."""


@routes.put("/<game:game>/files/<name>")
def save(game: str, name: str) -> Response:
    """Save a file; 409 with its current content if another program has changed it."""
    folder = find(game).project.folder
    request.max_content_length = LARGEST_BODY
    saved = body(Saved)
    try:
        return reply(file_document(folder.save(name, saved.text, saved.base)))
    except ChangedMeanwhile as changed:
        now = None if changed.now is None else file_document(changed.now)
        return reply({"error": str(changed), "now": now}, 409)


def file_document(file: TextFile) -> dict[str, Json]:
    """Return a file as JSON for pages."""
    return {"name": file.name, "text": file.text, "digest": file.digest}


def find(game: str) -> OwnDesk:
    """Return the desk for a game; abort with 404 if it is not the workshop's game."""
    desk: OwnDesk = current_app.extensions["desk"]
    if desk.project.game != game:
        abort(404, f"this workshop is for {desk.project.game}")
    return desk


def body(kind: type[Any]) -> Any:
    """Decode the request body; raise ProtocolError if it is invalid."""
    try:
        return documents.decode(request.get_data(cache=False), kind)
    except msgspec.DecodeError as error:
        raise ProtocolError(f"this cannot be read: {error}") from None


def reply(document: Json, code: int = 200) -> Response:
    """Return a JSON response."""
    return fresh(Response(msgspec.json.encode(document), code, content_type="application/json"))


def fresh(answer: Response) -> Response:
    """Disable caching of a response."""
    answer.headers["Cache-Control"] = "no-store"
    return answer


run_routes = Blueprint("workshop_runs", __name__, url_prefix="/workshop/<game:game>")

NO_RUN = "nothing has been run yet"


class WantedSeries(msgspec.Struct, frozen=True):
    """The series requested by a page."""

    opponent: str
    matches: int


class WantedAnswer(msgspec.Struct, frozen=True):
    """The turn for which a page asks the bot again."""

    turn: Turn


def find_run(game: str) -> Desk:
    """Return the current user's desk for a game."""
    desks: FindDesk = current_app.extensions["desks"]
    return desks(game)


@run_routes.post("/run")
def run(game: str) -> Response:
    """Start a match of the bot that replaces the previous one."""
    desk, wanted = find_run(game), body(WantedRun)
    return reply(desk.begin_run(wanted), 201)


@run_routes.get("/run")
def running(game: str) -> Response:
    """Return the state of the run, with its output and the code lines in it; 404 without a run."""
    return reply(find_run(game).run() or abort(404, NO_RUN))


@run_routes.post("/stop")
def stop(game: str) -> Response:
    """End the run."""
    find_run(game).end_run()
    return reply({})


@run_routes.get("/run/turns/<int:turn>")
def turn(game: str, turn: int) -> Response:
    """Return the bot's queries and replies in a turn of the run."""
    return reply(find_run(game).turn(turn) or abort(404, NO_RUN))


@run_routes.post("/ask")
def ask(game: str) -> Response:
    """Query the current bot about a turn of the run, after all earlier turns."""
    desk, wanted = find_run(game), body(WantedAnswer)
    desk.begin_ask(wanted.turn)
    return reply({}, 201)


@run_routes.get("/ask")
def answer(game: str) -> Response:
    """Return the bot's new reply as soon as it is available."""
    return reply(find_run(game).answer())


@run_routes.post("/series")
def begin_series(game: str) -> Response:
    """Start a series that replaces the previous one."""
    desk, wanted = find_run(game), body(WantedSeries)
    desk.begin_series(wanted.opponent, wanted.matches)
    return reply({}, 201)


@run_routes.get("/series")
def series(game: str) -> Response:
    """Return the state of the series."""
    return reply(find_run(game).series())


@run_routes.post("/series/stop")
def stop_series(game: str) -> Response:
    """End the series; its finished matches stay available."""
    find_run(game).end_series()
    return reply({})


@run_routes.get("/series/<int:number>/document")
def series_match(game: str, number: int) -> Response:
    """Return the gzipped replay of a match of the series."""
    packed = find_run(game).series_match(number)
    if packed is None:
        abort(404, "the series has no such match")
    answer = Response(packed, content_type="application/json")
    answer.headers["Content-Encoding"] = "gzip"
    return fresh(answer)


@run_routes.post("/check")
def begin_check(game: str) -> Response:
    """Start a check that replaces the previous one."""
    find_run(game).begin_check()
    return reply({}, 201)


@run_routes.get("/check")
def check(game: str) -> Response:
    """Return the state of the check."""
    return reply(find_run(game).check())


@run_routes.post("/check/stop")
def stop_check(game: str) -> Response:
    """End the check."""
    find_run(game).end_check()
    return reply({})


TOKEN_BYTES: Final = 32
PARAMETER: Final = "token"
OWN_PAGES: Final = ("same-origin", "none")
"""Values of Sec-Fetch-Site for requests from our own pages, and for a URL typed by the user."""

REFUSED: Final = (
    "this page is for whoever started the workshop: open the address that `cw workshop` printed"
)


class Gate:
    """The token of a workshop, and the cookie that replaces it."""

    def __init__(self, host: str, token: str = "") -> None:
        """Protect what is served at `host`, 127.0.0.1 and a port; generate a missing token."""
        self.host = host
        self.token = token or secrets.token_urlsafe(TOKEN_BYTES)
        # Cookies ignore ports, so two workshops on one host need different ones.
        self.cookie = f"workshop-{host.rpartition(':')[2]}"
        self.value = hmac.new(self.token.encode(), host.encode(), sha256).hexdigest()

    def guard(self, app: Flask) -> None:
        """Check every request before it is handled."""
        app.before_request(self._admit)
        app.after_request(self._close)

    def address(self, path: str) -> str:
        """Return the URL of a page, including the token."""
        return f"http://{self.host}{path}?{urlencode({PARAMETER: self.token})}"

    def _admit(self) -> Response | None:
        """Reject foreign requests and those without the cookie; exchange the token for the cookie.

        Rejected requests get 403.
        """
        if request.headers.get("Origin", f"http://{self.host}") != f"http://{self.host}":
            abort(403, REFUSED)
        if request.headers.get("Sec-Fetch-Site", "none") not in OWN_PAGES:
            abort(403, REFUSED)
        if request.method == "GET" and self._is_token(request.args.get(PARAMETER, "")):
            return self._with_cookie()
        if not hmac.compare_digest(request.cookies.get(self.cookie, "").encode(), self._bytes):
            abort(403, REFUSED)
        return None

    @property
    def _bytes(self) -> bytes:
        return self.value.encode()

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self.token.encode())

    def _with_cookie(self) -> Response:
        """Redirect to the same page without the token, which must not stay in the URL."""
        answer = redirect("/" + request.path.lstrip("/"), 303)
        answer.set_cookie(self.cookie, self.value, httponly=True, samesite="Strict")
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["Referrer-Policy"] = "no-referrer"
        return answer  # type: ignore[return-value]

    def _close(self, response: Response) -> Response:
        """Prevent other sites from embedding our pages or reading responses."""
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        response.headers["X-Frame-Options"] = "DENY"
        return response
