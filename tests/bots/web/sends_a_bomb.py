"""Sends 1 MB of zeros, compressed to 1 kB."""

import gzip
import socket

from tests.bots.serving import reply, requests, serve


def converse(connection: socket.socket, number: int) -> None:
    for _ in requests(connection):
        connection.sendall(reply(gzip.compress(bytes(10**6)), "Content-Encoding: gzip"))


serve(converse)
