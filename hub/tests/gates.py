"""Web services that hold whoever asks them, for as long as a test wants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Event, Thread


@dataclass
class Gate:
    """A web service that says nothing until it is opened, and then hangs up."""

    address: str
    open: Event


@contextmanager
def gate(host: str = "127.0.0.1") -> Iterator[Gate]:
    """Run a gate at an address of this machine; it is opened at the end."""
    is_open = Event()

    class Holding(BaseRequestHandler):
        def handle(self) -> None:
            is_open.wait(600)

    with ThreadingTCPServer((host, 0), Holding) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield Gate(f"http://{host}:{server.server_address[1]}", is_open)
        finally:
            is_open.set()
            server.shutdown()
