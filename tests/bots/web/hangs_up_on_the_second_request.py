"""Keeps a connection, takes a second request on it and closes."""

import socket

from tests.bots.serving import reply, requests, serve


def converse(connection: socket.socket, number: int) -> None:
    asked = requests(connection)
    next(asked)
    connection.sendall(reply(b"%d" % number))
    next(asked)


serve(converse)
