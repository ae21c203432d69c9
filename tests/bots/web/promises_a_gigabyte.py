"""Promises 1 GB and sends nothing of it."""

import socket
import time

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    next(requests(connection))
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
    time.sleep(600)


serve(converse)
