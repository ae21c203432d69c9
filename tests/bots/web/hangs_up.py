"""Takes a request and closes; its name is asked once only."""

import socket

from tests.bots.serving import reply, requests, serve


def converse(connection: socket.socket, number: int) -> None:
    request = next(requests(connection))
    if request.startswith(b"GET /count "):
        connection.sendall(reply(b"%d" % number))


serve(converse)
