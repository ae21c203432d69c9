"""The way in of one client: what it asks for its opponent, in whatever spelling, is refused."""

from __future__ import annotations

import socket
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from cw.server.app import create_server
from cw.server.player_proxy import Client, Door, PlayerProxy, SpectatorApp, player_proxies
from cw.server.rooms import CircuitSession, RoomRegistry
from cw.server.settings import ServerSettings
from cw.server.wsgi import listen, serving

ATTACKS = [
    "GET move/BOB/0,0,top HTTP/1.1",
    "GET http:move/BOB/0,0,top HTTP/1.1",
    "GET http://x//move/BOB/0,0,top HTTP/1.1",
    "GET //move/BOB/0,0,top HTTP/1.1",
    "GET /./move/BOB/0,0,top HTTP/1.1",
    "GET /move/../move/BOB/0,0,top HTTP/1.1",
    "GET /%6dove/BOB/0,0,top HTTP/1.1",
    "GET /move/%42OB/0,0,top HTTP/1.1",
    "GET /move%2fBOB/0,0,top HTTP/1.1",
    "GET /rooms/x/move/BOB/0,0,top HTTP/1.1",
    "HEAD /move/BOB/0,0,top HTTP/1.1",
    "POST /move/BOB/0,0,top HTTP/1.1",
    "POST /move/ANN/0,0,top HTTP/1.1",
    "POST /games/paint/matches HTTP/1.1",
    "GET reg/MALLORY HTTP/1.1",
    "GET http:reg/MALLORY HTTP/1.1",
    "GET /reg/BOB HTTP/1.1",
    "GET /reg/ANN/ HTTP/1.1",
    "GET /restart HTTP/1.1",
    "GET restart HTTP/1.1",
    "GET http:restart HTTP/1.1",
    "DELETE /status HTTP/1.1",
]


@pytest.fixture
def app() -> Flask:
    return create_server(ServerSettings(timeout=-1, size=3))


@pytest.fixture
def session(app: Flask) -> CircuitSession:
    rooms: RoomRegistry = app.extensions["rooms"]
    return rooms.find(None).session


def ann(must_be: str | None = None) -> Client:
    return Client("ANN", must_be, frozenset({"BOB"}))


@pytest.fixture
def doors(app: Flask, session: CircuitSession) -> Iterator[dict[str, Door]]:
    with player_proxies(app, session, [ann(), Client("BOB", None, frozenset({"ANN"}))]) as proxies:
        yield proxies


def answer_to(place: Path | tuple[str, int], head: str) -> str:
    """Send a request as it is written; return the status line of the answer."""
    family = socket.AF_UNIX if isinstance(place, Path) else socket.AF_INET
    with socket.socket(family) as connection:
        connection.connect(str(place) if isinstance(place, Path) else place)
        connection.sendall(f"{head}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        return connection.makefile("rb").readline().decode().strip()


def started(doors: dict[str, Door], session: CircuitSession) -> str:
    """Let both register; return the tag of the game."""
    for team in ("ANN", "BOB"):
        assert "200" in answer_to(doors[team].path, f"GET /reg/{team} HTTP/1.1")
    return session.look().snapshot.tag


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_client_can_neither_move_nor_register_for_its_opponent(
    attack: str, doors: dict[str, Door], session: CircuitSession
) -> None:
    before = started(doors, session)
    status = answer_to(doors["ANN"].path, attack)
    # A name that is taken is an answer of the game, not one of HTTP.
    refused = (" 400 ", " 403 ", " 404 ", " 405 ", *((" 200 ",) if "/reg/" in attack else ()))
    assert any(code in status for code in refused), status
    assert session.look().snapshot.tag == before


@pytest.mark.parametrize("attack", ["GET /move/ANN/0,0,top HTTP/1.1", *ATTACKS])
def test_nobody_plays_through_the_address_of_spectators(
    attack: str, app: Flask, doors: dict[str, Door], session: CircuitSession
) -> None:
    before = started(doors, session)
    listener = listen("127.0.0.1", 0)
    place = listener.getsockname()
    with serving(SpectatorApp(app), listener):
        status = answer_to(place, attack)
        assert any(code in status for code in (" 400 ", " 403 ", " 404 ", " 405 ")), status
        for path in ("/", "/status", "/history", "/static/base.css"):
            assert " 200 " in answer_to(place, f"GET {path} HTTP/1.1")
    assert session.look().snapshot.tag == before


def test_a_client_moves_for_itself(doors: dict[str, Door], session: CircuitSession) -> None:
    before = started(doors, session)
    assert " 200 " in answer_to(doors["ANN"].path, "GET /move/ANN/0,0,top HTTP/1.1")
    assert session.look().snapshot.tag != before
    assert session.look().snapshot.state.last_move == "0,0,top"


def test_refused_requests_are_counted_in_bounded_memory(
    app: Flask, session: CircuitSession
) -> None:
    proxy = PlayerProxy(app, session, ann())
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/" + "x" * 16_000}
    tracemalloc.start()
    try:
        for number in range(3000):
            proxy({**environ, "PATH_INFO": f"{environ['PATH_INFO']}{number}"}, lambda *_: None)
        memory, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert memory < 1024 * 1024
    assert proxy.attempts.count == 3000
    sentences = proxy.attempts.sentences()
    assert len(sentences) == 21
    assert "2980 more" in sentences[-1]


def test_a_client_registers_under_a_name_of_its_own(app: Flask, session: CircuitSession) -> None:
    with player_proxies(app, session, [ann()]) as doors:
        path = doors["ANN"].path
        assert " 200 " in answer_to(path, "GET /reg/BOB HTTP/1.1")
        for target in ("reg/BOB", "http:reg/BOB", "/./reg/BOB", "/reg/./BOB"):
            answer_to(path, f"GET {target} HTTP/1.1")
        assert session.look().snapshot.teams == ()
        answer_to(path, "GET /reg/ada HTTP/1.1")
        answer_to(path, "GET /reg/again HTTP/1.1")
        assert session.look().snapshot.teams == ("ada",)
        assert " 403 " in answer_to(path, "GET /move/ANN/0,0,top HTTP/1.1")


def test_a_client_may_be_told_its_name(app: Flask, session: CircuitSession) -> None:
    with player_proxies(app, session, [ann("ann-1")]) as doors:
        assert " 403 " in answer_to(doors["ANN"].path, "GET /reg/ada HTTP/1.1")
        assert session.look().snapshot.teams == ()
