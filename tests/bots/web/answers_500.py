"""Answers as it should, but with status 500."""

import socket

from tests.bots.serving import reply, requests, serve


def converse(connection: socket.socket, number: int) -> None:
    for _ in requests(connection):
        connection.sendall(reply(b'{"status":"ok"}', status="500 Internal Server Error"))


serve(converse)
