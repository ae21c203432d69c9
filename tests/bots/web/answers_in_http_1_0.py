"""Answers in HTTP/1.0 without a length, and closes."""

import socket

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    next(requests(connection))
    connection.sendall(b'HTTP/1.0 200 OK\r\n\r\n{"status":"ok"}')


serve(converse)
