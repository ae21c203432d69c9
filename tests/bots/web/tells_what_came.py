"""Answers with the bytes of the request; its header Connection-Number counts."""

import socket

from tests.bots.serving import reply, requests, serve


def converse(connection: socket.socket, number: int) -> None:
    for request in requests(connection):
        connection.sendall(reply(request, f"Connection-Number: {number}"))


serve(converse)
