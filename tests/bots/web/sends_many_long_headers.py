"""Sends a hundred headers of 1 kB: each is fine, all together are not."""

import socket

from tests.bots.serving import reply, requests, serve


def converse(connection: socket.socket, number: int) -> None:
    for _ in requests(connection):
        connection.sendall(reply(b"{}", *[f"X-{n}: {'x' * 1000}" for n in range(100)]))


serve(converse)
