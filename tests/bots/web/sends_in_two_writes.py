"""Sends head and body apart, as many small servers do."""

import socket

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    for _ in requests(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        connection.sendall(b"Content-Length: 2\r\n\r\n")
        connection.sendall(b"{}")


serve(converse)
