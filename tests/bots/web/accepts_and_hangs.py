"""Takes a request and never answers."""

import socket

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    for _ in requests(connection):
        pass


serve(converse)
