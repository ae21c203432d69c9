"""Answers with a page, status 200."""

import socket

from tests.bots.serving import reply, requests, serve


def converse(connection: socket.socket, number: int) -> None:
    for _ in requests(connection):
        connection.sendall(reply(b"<h1>It works!</h1>", "Content-Type: text/html"))


serve(converse)
