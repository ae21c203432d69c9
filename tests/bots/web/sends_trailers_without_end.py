"""Ends a chunked body with headers that have no end."""

import socket

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    next(requests(connection))
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
    while True:
        connection.sendall(b"X-Again: and again\r\n" * 100)


serve(converse)
