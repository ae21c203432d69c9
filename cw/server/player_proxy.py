"""Per-client proxies: the server knows who is calling, and no client can move for another."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, Final, TypeAlias

from cw.arena.bots import numbered
from cw.arena.sandbox.cgroups import prefix
from cw.arena.transports.sockets import bound_unix
from cw.errors import InvalidTeamId, TeamIdTaken
from cw.games.circuit_wars import protocol
from cw.games.rules import Json
from cw.server.routes import TEAM_IDS
from cw.server.session import GITHUB, Session
from cw.server.wsgi import BACKLOG, WSGIApp, serving

REFUSED: Final = "403 FORBIDDEN"

READING: Final = re.compile(r"/(|status|history|static/.*)", re.DOTALL)
"""Read-only paths of the app."""

MOST_PATHS: Final = 20
"""Maximum number of refused requests that are reported one by one; the rest are only counted."""

LONGEST_PATH: Final = 80
"""Maximum characters reported of a refused request's path."""

Environ: TypeAlias = dict[str, Any]

NO_STATUS: Final[Mapping[str, Json]] = {}


def path_of(environ: Environ) -> str:
    """Return the path as seen by the app; "" for a target that is not a path.

    A request target may be `move/...` or `http:move/...`: the app would add a missing slash at its
    beginning.
    """
    path = str(environ.get("PATH_INFO", ""))
    return path if path.startswith("/") and not path.startswith("//") else ""


class SpectatorApp:
    """The app for spectators, who cannot play through it."""

    def __init__(self, app: WSGIApp) -> None:
        """Wrap an app."""
        self.app = app

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Pass on read-only requests."""
        if environ["REQUEST_METHOD"] == "GET" and READING.fullmatch(path_of(environ)):
            return self.app(environ, start_response)
        why = "this address is only for watching"
        return answered(start_response, REFUSED, {"error": why})


@dataclass(slots=True)
class Attempts:
    """The refused requests of a client; only the first ones are stored in full."""

    paths: list[str] = field(default_factory=list)
    count: int = 0
    _lock: Lock = field(default_factory=Lock)

    def add(self, path: str) -> None:
        """Count a request."""
        with self._lock:
            self.count += 1
            if len(self.paths) < MOST_PATHS:
                self.paths.append(path[:LONGEST_PATH])

    def sentences(self) -> list[str]:
        """Return a message for each of the first ones, and one with the number of the rest."""
        texts = [f"its request for {path!r} was refused" for path in self.paths]
        more = self.count - len(self.paths)
        return [*texts, f"{more} more of its requests were refused"] if more else texts


@dataclass(frozen=True, slots=True)
class Client:
    """A client that a proxy admits."""

    name: str
    """The name of its bot."""
    team: str
    """The team id by which the server knows it, whatever id it registers."""


class PlayerProxy:
    """The app as one client may use it: to read, to register once, and to move only for itself.

    Each client has its own proxy, so the team id that it registers need not be unique: the proxy
    translates it. Anything else is refused and counted in `attempts`; it never reaches the game.
    """

    def __init__(self, app: WSGIApp, session: Session[Any, Any], client: Client) -> None:
        """Create the proxy of a client that has not registered yet."""
        self.app = app
        self.session = session
        self.client = client
        self.own_id: str | None = None
        """The team id that it registered."""
        self.attempts = Attempts()
        self._lock = Lock()

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Forward or refuse a request."""
        path = path_of(environ)
        kind, *rest = path.split("/")[1:] or [""]
        if environ["REQUEST_METHOD"] == "GET":
            if kind == "reg":
                return self.register(path, "/".join(rest), environ, start_response)
            if kind == "move":
                return self.move(path, rest, environ, start_response)
            if READING.fullmatch(path):
                return self.app({**environ, TEAM_IDS: self.team_ids()}, start_response)
        return self.refuse(environ, start_response, "a client may look, register and move")

    def register(
        self, path: str, name: str, environ: Environ, start_response: Any
    ) -> Iterable[bytes]:
        """Register the client, once, under any valid team id."""
        with self._lock:
            # Refused here, before the app: a second registration would take the opponent's seat.
            if self.own_id is not None:
                self.attempts.add(path)
                refusal = TeamIdTaken(f"you have registered as {self.own_id} already")
                return answered(start_response, "200 OK", protocol.not_registered(refusal))
            try:
                GITHUB.check(name)
            except InvalidTeamId as error:
                return answered(start_response, "200 OK", protocol.not_registered(error))
            translated = {**environ, "PATH_INFO": f"/reg/{self.client.team}"}
            answer = self.app(translated, start_response)
            # The app decides whether a seat is free; the proxy trusts only what it sees seated.
            if self.client.team in self.session.look().snapshot.teams:
                self.own_id = name
            return answer

    def team_ids(self) -> dict[str, str]:
        """Return the team ids as the client may see them: its own is the one it registered."""
        if self.own_id is None:
            return {}
        seated = self.session.look().snapshot.teams
        others = [team for team in seated if team != self.client.team]
        names = numbered(others, reserved=[self.own_id])
        return {self.client.team: self.own_id, **dict(zip(others, names, strict=True))}

    def move(
        self, path: str, rest: Sequence[str], environ: Environ, start_response: Any
    ) -> Iterable[bytes]:
        """Forward a move of the client for its own team."""
        # Refused requests count as attempts, not as illegal moves (decisions 0005): asking twice by
        # mistake must not lose a match.
        if rest[:1] != [self.own_id]:
            why = (
                "register first: /reg/<team_id>"
                if self.own_id is None
                else f"you have registered as {self.own_id}, and may move for that team only"
            )
            snapshot, time_left = self.session.look()
            status = protocol.status_document(len(snapshot.teams), snapshot.state, time_left)
            return self.refuse(environ, start_response, why, status)
        target = "/".join(["/move", self.client.team, *rest[1:]])
        return self.app({**environ, "PATH_INFO": target}, start_response)

    def refuse(
        self,
        environ: Environ,
        start_response: Any,
        why: str,
        status: Mapping[str, Json] = NO_STATUS,
    ) -> Iterable[bytes]:
        """Refuse and count a request; `status` holds additional members of the response."""
        self.attempts.add(str(environ.get("PATH_INFO", "")))
        return answered(start_response, REFUSED, {**status, "error": why})


def answered(start_response: Any, status: str, document: dict[str, Any]) -> Iterable[bytes]:
    """Return a JSON response."""
    body = json.dumps(document).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response(status, headers)
    return [body]


@dataclass(frozen=True, slots=True)
class Door:
    """The Unix socket that a client's forwarder connects to, and the proxy behind it."""

    path: Path
    proxy: PlayerProxy


@contextmanager
def player_proxies(
    app: WSGIApp, session: Session[Any, Any], clients: Iterable[Client]
) -> Iterator[dict[str, Door]]:
    """Serve an app on a Unix socket for each client during the block; yield them by name."""
    with TemporaryDirectory(prefix=prefix("gate")) as folder, ExitStack() as servers:
        # Programs in the sandbox run as other users; each can see only its own folder.
        Path(folder).chmod(0o711)
        doors = {}
        for number, client in enumerate(clients):
            place = Path(folder, str(number))
            place.mkdir()
            proxy = PlayerProxy(app, session, client)
            servers.enter_context(serving(proxy, listen_at(place / "server")))
            doors[client.name] = Door(place / "server", proxy)
        yield doors


def listen_at(path: Path) -> socket.socket:
    """Listen on a Unix socket that any user who can see it may use."""
    listener = bound_unix(path)
    path.chmod(0o666)
    listener.listen(BACKLOG)
    return listener
