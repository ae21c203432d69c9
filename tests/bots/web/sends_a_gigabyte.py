"""Sends a body of 1 GB, as much as is taken."""

import socket

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    next(requests(connection))
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    block = b" " * 2**20
    for _ in range(1024):
        connection.sendall(block)


serve(converse)
