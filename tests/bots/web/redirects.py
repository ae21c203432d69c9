"""Sends every request elsewhere; its header Asked counts the requests."""

import socket

from tests.bots.serving import reply, requests, serve


def converse(connection: socket.socket, number: int) -> None:
    here = f"http://127.0.0.1:{connection.getsockname()[1]}/private"
    for asked, _ in enumerate(requests(connection), start=1):
        headers = f"Location: {here}", f"Asked: {asked}"
        connection.sendall(reply(b"", *headers, status="302 Found"))


serve(converse)
