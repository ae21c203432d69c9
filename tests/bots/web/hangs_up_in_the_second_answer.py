"""Closes a kept connection in the middle of its second answer."""

import socket

from tests.bots.serving import reply, requests, serve


def converse(connection: socket.socket, number: int) -> None:
    asked = requests(connection)
    next(asked)
    connection.sendall(reply(b"%d" % number))
    next(asked)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")


serve(converse)
