"""Requests that are sent as they are written, each from an address of its own."""

from __future__ import annotations

import io
import json
import socket
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPMessage, HTTPResponse
from itertools import count
from typing import Any, Final
from urllib.parse import urlsplit

PATIENCE: Final = 60.0

_number: Final = count()


@dataclass(frozen=True)
class Answer:
    """What a server has answered; status 0 if it has ended the connection without a word."""

    status: int
    headers: HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        return json.loads(self.body)


def own_address() -> str:
    """Return an address of this machine that nobody else uses: limits count by address."""
    number = next(_number)
    return f"127.7.{number // 250 % 250}.{number % 250 + 1}"


def connect(server: str) -> socket.socket:
    """Connect to a server, `http://127.0.0.1:8000`, from an address of one's own."""
    parts = urlsplit(server)
    return socket.create_connection(
        (parts.hostname, parts.port), PATIENCE, source_address=(own_address(), 0)
    )


def send(server: str, data: bytes, method: str = "GET") -> Answer:
    """Send bytes on a connection of their own; return the first answer to them."""
    with connect(server) as connection:
        connection.sendall(data)
        return read(connection, method)


class Received:
    """Bytes that were received, as a connection to read them from."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self.data)


def read(source: socket.socket | bytes, method: str = "GET") -> Answer:
    """Read one answer, from a connection or of what has come."""
    connection: Any = Received(source) if isinstance(source, bytes) else source
    with closing(HTTPResponse(connection, method=method)) as response:
        try:
            response.begin()
        except ConnectionError:
            return Answer(0, HTTPMessage(), b"")
        return Answer(response.status, response.headers, response.read())


def ask(server: str, target: str, *lines: str, method: str = "GET", body: bytes = b"") -> Answer:
    """Send a request with nothing but these lines in its head, and the length of its body."""
    length = [f"Content-Length: {len(body)}"] if body else []
    head = [f"{method} {target} HTTP/1.1", *lines, *length, "Connection: close", "", ""]
    return send(server, "\r\n".join(head).encode("latin-1") + body, method)
