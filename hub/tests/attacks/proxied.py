"""A real hub with a real Caddy before it, as hub/deploy/Caddyfile sets that."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hub.tests import caddy
from hub.tests.attacks.raw import PATIENCE, Answer, read
from hub.tests.caddy import Caddy
from hub.tests.campaign import HASTY, Role, roles, wait_until
from tests.ports import free_port

QUIET: Final = 2.0
"""Seconds after which a proxy is taken to say nothing more."""


@dataclass(frozen=True)
class Proxied:
    """A hub with a proxy before it."""

    caddy: Caddy
    address: str
    role: Role

    @contextmanager
    def connected(self) -> Iterator[ssl.SSLSocket]:
        """Connect to the proxy while the block runs."""
        context = ssl.create_default_context(cafile=str(self.caddy.authority))
        with (
            socket.create_connection(("127.0.0.1", self.caddy.port), PATIENCE) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as connection,
        ):
            yield connection

    def send(self, data: bytes, quiet: float = QUIET) -> bytes:
        """Send bytes to the proxy; return what comes until the end, or until nothing more does."""
        with self.connected() as connection:
            connection.sendall(data)
            received = b""
            with suppress(OSError):
                while data := connection.recv(65536):
                    received += data
                    # Of a request without an end nothing else comes.
                    connection.settimeout(quiet)
            return received

    def ask(self, target: str, *lines: str, version: str = "HTTP/1.1") -> Answer:
        """Send one request by the proxy; its answer ends with the connection, however late."""
        head = [f"GET {target} {version}", "Host: localhost", *lines, "Connection: close", "", ""]
        return read(self.send("\r\n".join(head).encode("latin-1"), PATIENCE))

    def log(self) -> str:
        """Return what the hub has logged."""
        return self.role.log.read_text(errors="replace")


@contextmanager
def open_proxied(folder: Path) -> Iterator[Proxied]:
    """Run a hub and a Caddy while the block runs."""
    port = free_port()
    proxy = caddy.new_caddy(folder)
    environment = {
        "CW_DATA": str(folder / "data"),
        "CW_PUBLIC_URL": proxy.address,
        "CW_TRUSTED_PROXY": "127.0.0.1",
        "CW_LOG": "json",
        **HASTY,
    }
    role = Role(["serve", "--port", str(port)], environment, folder / "log")
    with roles(role):
        wait_until(lambda: "Hub: " in role.log.read_text(), "the hub")
        with caddy.running(proxy, f"127.0.0.1:{port}"):
            yield Proxied(proxy, f"http://127.0.0.1:{port}", role)
