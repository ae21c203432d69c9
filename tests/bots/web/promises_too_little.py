"""Promises 2 bytes and sends 12."""

import socket

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    next(requests(connection))
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{"moves":[]}')


serve(converse)
