"""The page and requests of a workshop, and the application and gate of a local one."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode

import msgspec
from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    g,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from cw import documents
from cw.errors import ProtocolError, UsageError
from cw.games.rules import Json
from cw.kits import LANGUAGES
from cw.server.names import HostNames
from cw.web.app import create_app
from cw.web.games import game_page, strategies
from cw.web.live_matches import LiveMatches
from cw.web.replay_store import NAME, ReplayStore
from cw.web.settings import SiteSettings
from cw.web.workshop import MOST_SEED, Desk, OwnDesk, Turn, WantedRun
from cw.workshop.project import (
    LARGEST_FILE,
    ChangedMeanwhile,
    Project,
    TextFile,
    digest_of,
    seats_of,
)

LARGEST_BODY: Final = 7 * LARGEST_FILE
"""Maximum size of a request that saves a file; JSON may take six bytes per character."""

NONCE_BYTES: Final = 16

CHOOSE: Final = re.compile(r"\bchoose\w*\s*\(", re.IGNORECASE)
RETURN: Final = re.compile(r"^[ \t]*return\b", re.MULTILINE)

FEWEST: Final = 20
MOST: Final = 400
"""Maximum matches in a series."""

NO_RUN: Final = "nothing has been run yet"


def page(desk: Desk) -> Response:
    """Render the page for writing and testing a bot.

    The editor adds its styles to the page with a nonce, which the policy of the application allows.
    """
    game, sources = desk.game, desk.sources()
    g.style_nonce = secrets.token_urlsafe(NONCE_BYTES)
    replay = request.args.get("replay", "")
    replay = replay if NAME.fullmatch(replay) else ""
    answer = render_template(
        desk.template,
        game=game,
        page=game_page(game),
        language=sources.language,
        how=LANGUAGES[sources.language],
        main=sources.main,
        strategies=strategies(game),
        seats=range(1, seats_of(game) + 1),
        fewest=FEWEST,
        most=MOST,
        nonce=g.style_nonce,
        replay=replay,
        replay_address=replay and desk.replay_address(replay),
        first=first_steps(sources.main_text),
        **desk.page_values(),
    )
    return fresh(make_response(answer))


def first_steps(text: str) -> dict[str, int]:
    """Return the lines of a main file worth changing first: those that choose an action."""
    start = CHOOSE.search(text)
    answer = start and RETURN.search(text, start.end())
    places = {"choose": start, "answer": answer}
    return {name: line_of(place) for name, place in places.items() if place}


def line_of(place: re.Match[str]) -> int:
    """Return the number of the line, from 1, in which a regex match starts."""
    return place.string.count("\n", 0, place.start()) + 1


def files(desk: Desk) -> Response:
    """Return the bot's files, each with text and digest; 304 if unchanged."""
    order = desk.sources().files
    answer = reply({"files": [file_document(file) for file in order]})
    answer.set_etag(digest_of(order))
    answer.make_conditional(request)
    return answer


class Saved(msgspec.Struct, frozen=True):
    """The body of a request to save a file."""

    text: str
    base: str
    """The digest of the content on which the edit is based; "" for a new file."""


def save(desk: Desk, name: str) -> Response:
    """Save a file; 409 with its current content if it has changed since it was read."""
    request.max_content_length = LARGEST_BODY
    saved = body(Saved)
    try:
        return reply(file_document(desk.save(name, saved.text, saved.base)))
    except ChangedMeanwhile as changed:
        now = None if changed.now is None else file_document(changed.now)
        return reply({"error": str(changed), "now": now}, 409)


def file_document(file: TextFile) -> dict[str, Json]:
    """Return a file as JSON for pages."""
    return {"name": file.name, "text": file.text, "digest": file.digest}


def begin_run(desk: Desk) -> Response:
    """Start a match of the bot that replaces the previous one."""
    wanted: WantedRun = body(WantedRun)
    seed = drawn() if wanted.seed is None else wanted.seed
    return reply(desk.begin_run(wanted, seed), 201)


def drawn(number: int = 0) -> int:
    """Return a random seed that leaves room for `number` seeds after it."""
    return secrets.randbelow(MOST_SEED + 1 - number)


def run(desk: Desk) -> Response:
    """Return the state of the run, with its output and the code lines in it; 404 without a run."""
    return reply(desk.run() or abort(404, NO_RUN))


def turn(desk: Desk, turn: int) -> Response:
    """Return the bot's queries and replies in a turn of the run."""
    return reply(desk.turn(turn) or abort(404, NO_RUN))


def end_run(desk: Desk) -> Response:
    """End the run."""
    desk.end_run()
    return reply({})


class WantedSeries(msgspec.Struct, frozen=True):
    """The series requested by a page."""

    opponent: str
    matches: int


class WantedAnswer(msgspec.Struct, frozen=True):
    """The turn for which a page asks the bot again."""

    turn: Turn


def begin_ask(desk: Desk) -> Response:
    """Query the current bot about a turn of the run, after all earlier turns."""
    desk.begin_ask(body(WantedAnswer).turn)
    return reply({}, 201)


def answer(desk: Desk) -> Response:
    """Return the bot's new reply as soon as it is available."""
    return reply(desk.answer())


def begin_series(desk: Desk) -> Response:
    """Start a series that replaces the previous one."""
    wanted: WantedSeries = body(WantedSeries)
    number = wanted.matches
    if not FEWEST <= number <= MOST:
        raise UsageError(f"a series has {FEWEST} to {MOST} matches, not {number}")
    desk.begin_series(wanted.opponent, number, drawn(number))
    return reply({}, 201)


def series(desk: Desk) -> Response:
    """Return the state of the series."""
    return reply(desk.series())


def series_match(desk: Desk, number: int) -> Response:
    """Return the gzipped replay of a match of the series."""
    packed = desk.series_match(number)
    if packed is None:
        abort(404, "the series has no such match")
    answer = Response(packed, content_type="application/json")
    answer.headers["Content-Encoding"] = "gzip"
    return fresh(answer)


def end_series(desk: Desk) -> Response:
    """End the series; its finished matches stay available."""
    desk.end_series()
    return reply({})


def begin_check(desk: Desk) -> Response:
    """Start a check that replaces the previous one."""
    desk.begin_check()
    return reply({}, 201)


def check(desk: Desk) -> Response:
    """Return the state of the check."""
    return reply(desk.check())


def end_check(desk: Desk) -> Response:
    """End the check."""
    desk.end_check()
    return reply({})


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


View: TypeAlias = Callable[..., Response]

VIEWS: Final[tuple[tuple[str, str, View], ...]] = (
    ("GET", "/", page),
    ("GET", "/files", files),
    ("PUT", "/files/<name>", save),
    ("POST", "/run", begin_run),
    ("GET", "/run", run),
    ("GET", "/run/turns/<int:turn>", turn),
    ("POST", "/stop", end_run),
    ("POST", "/ask", begin_ask),
    ("GET", "/ask", answer),
    ("POST", "/series", begin_series),
    ("GET", "/series", series),
    ("GET", "/series/<int:number>/document", series_match),
    ("POST", "/series/stop", end_series),
    ("POST", "/check", begin_check),
    ("GET", "/check", check),
    ("POST", "/check/stop", end_check),
)
"""Every request of a workshop: its method, its path below that of the game, and who answers it."""


def workshop_routes(find_desk: Callable[[str], Desk]) -> Blueprint:
    """Return the routes of a workshop.

    `find_desk` returns the current user's desk for a game, and aborts if there is none.
    """
    routes = Blueprint("workshop", __name__, url_prefix="/workshop/<game:game>")

    def at_desk(view: View) -> View:
        """Return a view that is called with the desk of the game in its URL."""

        @wraps(view)
        def answer(game: str, **values: Any) -> Response:
            return view(find_desk(game), **values)

        return answer

    for method, path, view in VIEWS:
        routes.add_url_rule(path, view_func=at_desk(view), methods=[method])
    return routes


def create_workshop(
    project: Project, gate: Gate, replays: Path | None = None
) -> tuple[Flask, OwnDesk]:
    """Return the application for one bot, protected by its gate, and its desk, to be closed.

    `replays` is the folder, or the single file, with replays from whose positions the bot may be
    tried.
    """
    app = create_app(
        SiteSettings(
            names=HostNames(frozenset({"127.0.0.1"})),
            owner=True,
            desk=False,
            rooms=False,
            isolation=project.isolation,
            replays=replays,
        )
    )
    gate.guard(app)
    matches: LiveMatches = app.extensions["matches"]
    store: ReplayStore = app.extensions["replay_store"]
    desk = OwnDesk(project, matches, replays=store)

    def find_desk(game: str) -> OwnDesk:
        if game != project.game:
            abort(404, f"this workshop is for {project.game}")
        return desk

    app.config["HOME"] = "home"
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    app.config["LARGE_BODIES"] |= {"workshop.save"}
    app.register_blueprint(workshop_routes(find_desk))
    app.context_processor(lambda: {"workshop": project.game})

    @app.get("/")
    def home() -> AnyResponse:
        """Redirect to the workshop."""
        return redirect(url_for("workshop.page", game=project.game))

    return app, desk


TOKEN_BYTES: Final = 32
PARAMETER: Final = "token"
OWN_PAGES: Final = ("same-origin", "none")
"""Values of Sec-Fetch-Site for requests from our own pages, and for a URL typed by the user."""

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The policy of the page of the workshop, whose scripts are loaded only from our files."""

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
        if "style_nonce" in g:
            response.headers["Content-Security-Policy"] = POLICY.format(nonce=g.style_nonce)
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        response.headers["X-Frame-Options"] = "DENY"
        return response
