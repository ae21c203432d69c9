"""Greets whoever connects, in plain text, and closes."""

import socket

from tests.bots.serving import serve


def converse(connection: socket.socket, number: int) -> None:
    connection.sendall(b"220 welcome to the bot\r\n\r\n")


serve(converse)
