"""Accepts connections and reads nothing."""

import socket
import time

from tests.bots.serving import serve


def converse(connection: socket.socket, number: int) -> None:
    time.sleep(600)


serve(converse)
