"""Promises 10,000 bytes and sends one every 20 ms."""

import socket
import time

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    next(requests(connection))
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
    for _ in range(10000):
        connection.sendall(b"x")
        time.sleep(0.02)


serve(converse)
