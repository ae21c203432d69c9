"""The way in of one client: what it asks for its opponent, in whatever spelling, is refused."""

from __future__ import annotations

import json
import socket
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def ann() -> Client:
    return Client("ANN", "ANN")


@pytest.fixture
def doors(app: Flask, session: CircuitSession) -> Iterator[dict[str, Door]]:
    with player_proxies(app, session, [ann(), Client("BOB", "BOB")]) as proxies:
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


def asked(door: Door, path: str) -> dict[str, Any]:
    """Return what a client is answered."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(door.path))
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())
        answer = connection.makefile("rb").read().decode()
    document: dict[str, Any] = json.loads(answer.partition("\r\n\r\n")[2])
    return document


def test_a_client_registers_any_id_and_is_seen_under_its_own(
    doors: dict[str, Door], session: CircuitSession
) -> None:
    door = doors["ANN"]
    assert asked(door, "/reg/myTeam") == {"response": "OK", "player": 1}
    assert session.look().snapshot.teams == ("ANN",)
    assert asked(doors["BOB"], "/reg/myTeam") == {"response": "OK", "player": 2}
    assert session.look().snapshot.teams == ("ANN", "BOB")
    assert asked(door, "/move/myTeam/0,0,top")["status_code"] == 202
    assert asked(doors["BOB"], "/move/myTeam/1,1,top")["status_code"] == 201
    assert asked(door, "/move/myTeam/0,1,left")["last_move"] == "0,1,left"


def test_a_client_is_told_its_own_id_alone_for_itself(
    doors: dict[str, Door], session: CircuitSession
) -> None:
    door = doors["ANN"]
    assert asked(door, "/history")["teams"] == []
    asked(door, "/reg/BOB")
    assert asked(door, "/history")["teams"] == ["BOB"]
    asked(doors["BOB"], "/reg/zoe")
    assert session.look().snapshot.teams == ("ANN", "BOB")
    assert asked(door, "/history")["teams"] == ["BOB", "BOB-2"]
    assert asked(doors["BOB"], "/history")["teams"] == ["ANN", "zoe"]


def test_a_client_registers_once_and_keeps_its_first_id(
    doors: dict[str, Door], session: CircuitSession
) -> None:
    door = doors["ANN"]
    asked(door, "/reg/myTeam")
    before = session.look().snapshot.tag
    for again in ("/reg/other", "/reg/myTeam", "/reg/ANN", "/reg/BOB"):
        refused = asked(door, again)
        assert (refused["response"], refused["error_code"]) == ("ERROR", 2)
        assert refused["message"] == "you have registered as myTeam already"
    assert session.look().snapshot.tag == before
    asked(doors["BOB"], "/reg/other")
    for team in ("other", "ANN", "BOB"):
        refused = asked(door, f"/move/{team}/0,0,top")
        assert refused["status_code"] == 201
        assert refused["error"] == "you have registered as myTeam, and may move for that team only"
    assert session.look().snapshot.turns == ()
    assert door.proxy.attempts.count == 7


def test_an_id_that_is_not_valid_is_refused_and_another_can_be_registered(
    doors: dict[str, Door], session: CircuitSession
) -> None:
    door = doors["ANN"]
    for unfit in ("", "my%20team", "a" * 40, "%E9", "a/b", "./BOB", "../reg/BOB"):
        refused = asked(door, f"/reg/{unfit}")
        assert (refused["response"], refused["error_code"]) == ("ERROR", 1), unfit
        assert "letters, digits or hyphens" in refused["message"]
    assert asked(door, "/move/ANN/0,0,top")["error"] == "register first: /reg/<team_id>"
    assert session.look().snapshot.teams == ()
    assert asked(door, "/reg/myTeam")["response"] == "OK"
