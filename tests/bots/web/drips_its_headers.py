"""Sends a byte of its headers every 20 ms."""

import socket
import time
from itertools import cycle

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    next(requests(connection))
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for byte in cycle(b"X-Slow: yes\r\n"):
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


serve(converse)
