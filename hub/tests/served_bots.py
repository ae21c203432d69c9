"""Bots of End of Codes, many in one server, that answer as a test tells them to."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, ClassVar, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, urlsplit

PATIENCE = 300.0
"""Seconds in which what is waited for must have come."""


class Asked(NamedTuple):
    """A request to a bot."""

    name: str
    request: str
    """`bot`, `game` or `round`."""
    fields: Mapping[str, str]

    @property
    def round(self) -> int | None:
        return int(self.fields["round"]) if self.request == "round" else None

    @property
    def gameid(self) -> int | None:
        return int(self.fields["gameid"]) if "gameid" in self.fields else None

    @property
    def creatures(self) -> list[dict[str, int]]:
        creatures: list[dict[str, int]] = json.loads(self.fields["map"])
        return creatures

    def mine(self, *, alive: bool = True) -> list[dict[str, int]]:
        """Return the living creatures of the bot, or the dead ones."""
        own = [one for one in self.creatures if one["userid"] == int(self.fields["myid"])]
        return [one for one in own if (one["hp"] > 0) == alive]


class Answer(NamedTuple):
    """What a bot says; without a body it closes the connection."""

    body: bytes | None
    status: int = 200


Behave: TypeAlias = Callable[[Asked], Answer | None]
"""What a bot does with a request; None is to answer it as it should be, idle."""


def say(document: object) -> Answer:
    """Return a document as an answer."""
    return Answer(json.dumps(document).encode())


def proper(asked: Asked) -> Answer:
    """Answer as a bot should that only watches."""
    if asked.request == "bot":
        return say({"botname": "b", "version": "1", "username": asked.name})
    return say([] if asked.request == "game" else {"intent": []})


@dataclass
class Hold:
    """A request at which a bot holds its answer back."""

    request: str
    round: int | None
    caught: Event = field(default_factory=Event)
    released: Event = field(default_factory=Event)

    def delay(self, asked: Asked) -> None:
        if (asked.request, asked.round) == (self.request, self.round):
            self.caught.set()
            self.released.wait(PATIENCE)

    def wait(self) -> None:
        """Wait until a bot holds its answer back."""
        assert self.caught.wait(PATIENCE), f"nobody was asked for {self.request} {self.round}"


@dataclass
class Bots:
    """The bots of a server: the first part of a path is the name of one."""

    server: ThreadingHTTPServer
    asked: list[Asked] = field(default_factory=list)
    behave: dict[str, Behave] = field(default_factory=dict)
    otherwise: Callable[[Asked], Answer] = proper
    """What all others answer."""
    hold: Hold | None = None

    def at(self, name: str) -> str:
        """Return the bot base of a bot."""
        return f"http://127.0.0.1:{self.server.server_port}/{name}"

    @contextmanager
    def held_at(self, request: str, number: int | None = None) -> Iterator[Hold]:
        """Hold the answers to a request back until the block ends."""
        self.hold = Hold(request, number)
        try:
            yield self.hold
        finally:
            self.hold.released.set()
            self.hold = None

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        if self.hold is not None:
            self.hold.delay(asked)
        behave = self.behave.get(asked.name)
        return (behave(asked) if behave else None) or self.otherwise(asked)

    def starts_of(self, game: int) -> list[str]:
        """Return the map of round 0 for each time that a bot was sent it."""
        first = [one for one in self.asked if one.round == 0 and one.gameid == game]
        return [one.fields["map"] for one in first]

    def leave(self) -> None:
        """Listen no more; connections that are there stay."""
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    """Reads requests for the bots, and lets them answer."""

    protocol_version = "HTTP/1.1"
    bots: ClassVar[Bots]

    def do_GET(self) -> None:
        self.reply(dict(parse_qsl(urlsplit(self.path).query)))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.reply(dict(parse_qsl(body)))

    def reply(self, fields: dict[str, str]) -> None:
        _, name, request = urlsplit(self.path).path.split("/")
        answer = self.bots.answer(Asked(name, request, fields))
        # Who has asked may have been killed meanwhile.
        with suppress(ConnectionError):
            if answer.body is None:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A server for many bots at once."""

    request_queue_size = 128
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: Any) -> None:
        """Say nothing of connections that the grader has cut."""


@contextmanager
def serving_bots() -> Iterator[Bots]:
    """Serve bots while the block runs."""
    handler = type("BotsHandler", (Handler,), {})
    with Server(("127.0.0.1", 0), handler) as server:
        handler.bots = Bots(server)  # type: ignore[attr-defined]
        thread = Thread(target=server.serve_forever, args=[0.05], daemon=True)
        thread.start()
        try:
            yield handler.bots  # type: ignore[attr-defined]
        finally:
            server.shutdown()
