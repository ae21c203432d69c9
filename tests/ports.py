"""Ports to listen on later: nobody else takes them meanwhile."""

from __future__ import annotations

import os
import socket
from itertools import count
from typing import Final

FIRST, EACH = 12_000, 1000
"""The system gives out ports from 32768 on; each process of the tests has so many below."""

_number: Final = count(os.getpid())


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    while True:
        port = FIRST + worker % 20 * EACH + next(_number) % EACH
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
