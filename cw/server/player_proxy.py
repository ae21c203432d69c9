"""One way in for each client: the server knows who speaks, and lets nobody speak for another."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from cw.arena.transports.sockets import UNIX
from cw.errors import TeamIdTaken
from cw.games.circuit_wars import protocol
from cw.server.rooms import CircuitSession
from cw.server.wsgi import BACKLOG, WSGIApp, serving

REFUSED: Final = "403 FORBIDDEN"


class SpectatorApp:
    """The app for those who look on: nobody plays through it."""

    def __init__(self, app: WSGIApp) -> None:
        """Open the window."""
        self.app = app

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Pass on what changes nothing."""
        if str(environ.get("PATH_INFO", "")).split("/")[1] in ("reg", "move", "restart"):
            body = json.dumps({"error": "this is a window: look on"}).encode()
            return said(start_response, REFUSED, body)
        return self.app(environ, start_response)


class PlayerProxy:
    """The app as one client may use it: it registers once, and moves for itself only.

    What it tries beside that is refused and kept in `attempts`; it never touches the game.
    """

    def __init__(self, app: WSGIApp, session: CircuitSession, team: str | None) -> None:
        """Open the gate for the client of a team; None for one that chooses its name itself."""
        self.app = app
        self.session = session
        self.team = team
        self.attempts: list[str] = []

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Pass a request on, or refuse it."""
        path = str(environ.get("PATH_INFO", ""))
        parts = path.split("/")
        if parts[1:2] == ["reg"]:
            return self.register(path, "/".join(parts[2:]), environ, start_response)
        if parts[1:2] == ["move"] and parts[2:3] != [self.team]:
            return self.refuse(start_response, path, f"you may only move for {self.team}")
        if parts[1:2] == ["restart"]:
            return self.refuse(start_response, path, "nobody may restart a match")
        return self.app(environ, start_response)

    def register(
        self, path: str, name: str, environ: dict[str, Any], start_response: Any
    ) -> Iterable[bytes]:
        """Let the client register its own team, once."""
        if self.team is None:
            return self.register_as_it_likes(name, environ, start_response)
        if name != self.team:
            return self.refuse(start_response, path, f"you must register as {self.team}")
        if self.team in self.session.look().snapshot.teams:
            self.attempts.append(path)
            error = TeamIdTaken(f"you have registered as {self.team} already")
            body = json.dumps(protocol.not_registered(error)).encode()
            return said(start_response, "200 OK", body)
        return self.app(environ, start_response)

    def register_as_it_likes(
        self, name: str, environ: dict[str, Any], start_response: Any
    ) -> Iterable[bytes]:
        """Let the client register under a name that is free; it keeps it."""
        taken = name in self.session.look().snapshot.teams
        answer = self.app(environ, start_response)
        if not taken and name in self.session.look().snapshot.teams:
            self.team = name
        return answer

    def refuse(self, start_response: Any, path: str, why: str) -> Iterable[bytes]:
        """Refuse a request."""
        self.attempts.append(path)
        return said(start_response, REFUSED, json.dumps({"error": why}).encode())


def said(start_response: Any, status: str, body: bytes) -> Iterable[bytes]:
    """Answer with JSON."""
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response(status, headers)
    return [body]


@contextmanager
def player_proxies(
    app: WSGIApp, session: CircuitSession, teams: Mapping[str, str | None]
) -> Iterator[dict[str, Door]]:
    """Serve an app behind a Unix socket for each bot while the block runs.

    `teams` has the team as which a bot must register, None where it may choose.
    """
    with TemporaryDirectory(prefix="cw-gate-") as folder, ExitStack() as servers:
        # Programs in the sandbox are other users; each is shown its own folder only.
        Path(folder).chmod(0o711)
        doors = {}
        for number, (bot, team) in enumerate(teams.items()):
            place = Path(folder, str(number))
            place.mkdir()
            gate = PlayerProxy(app, session, team)
            servers.enter_context(serving(gate, listen_at(place / "server")))
            doors[bot] = Door(place / "server", gate)
        yield doors


class Door:
    """Where a client's forwarder knocks, and the gate behind."""

    def __init__(self, path: Path, gate: PlayerProxy) -> None:
        """Know the socket."""
        self.path = path
        self.gate = gate


def listen_at(path: Path) -> socket.socket:
    """Listen on a Unix socket that every user may use who can see it."""
    listener = socket.socket(UNIX)
    listener.bind(str(path))
    path.chmod(0o666)
    listener.listen(BACKLOG)
    return listener
