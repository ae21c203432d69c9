"""Answers in a language of its own."""

import socket

from tests.bots.serving import requests, serve


def converse(connection: socket.socket, number: int) -> None:
    next(requests(connection))
    connection.sendall(b"220 welcome to the bot\r\n\r\n")


serve(converse)
