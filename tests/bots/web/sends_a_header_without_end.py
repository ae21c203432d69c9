"""Sends one header that has no end."""

import socket

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    next(requests(connection))
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        connection.sendall(b"long" * 10000)


serve(converse)
