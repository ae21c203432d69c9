"""Answers in chunks with an extension and a trailer, which is allowed."""

import socket

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    for _ in requests(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.sendall(b'2;why=not\r\n{"\r\n')
        connection.sendall(b'd\r\nstatus":"ok"}\r\n0\r\nX-Trailer: yes\r\n\r\n')


serve(converse)
