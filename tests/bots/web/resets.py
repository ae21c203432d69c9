"""Resets the connection when it is asked."""

import socket
import struct

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    next(requests(connection))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


serve(converse)
