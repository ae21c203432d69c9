"""Promises 100 bytes, sends 2 and closes."""

import socket

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    next(requests(connection))
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}")


serve(converse)
