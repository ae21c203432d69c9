"""A web server of raw bytes for bots that misbehave: it reads requests as it should."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count


def serve(converse: Callable[[socket.socket, int], None]) -> None:
    """Call `converse(connection, number)` for every connection, each in a thread of its own."""
    server = socket.create_server(("127.0.0.1", 0))
    print(f"listening on http://127.0.0.1:{server.getsockname()[1]}", flush=True)
    for number in count(1):
        connection, _ = server.accept()
        threading.Thread(target=_hold, args=(converse, connection, number), daemon=True).start()


def _hold(
    converse: Callable[[socket.socket, int], None], connection: socket.socket, number: int
) -> None:
    with connection, suppress(ConnectionError):
        converse(connection, number)


def requests(connection: socket.socket) -> Iterator[bytes]:
    """Return the bytes of each request, head and body."""
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            data += _more(connection)
        head, _, data = data.partition(b"\r\n\r\n")
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        while len(data) < length:
            data += _more(connection)
        yield head + b"\r\n\r\n" + data[:length]
        data = data[length:]


def _more(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionError
    return data


def reply(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Return the bytes of a proper answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body
