"""Sockets to bots that are web services: allowed addresses, and counted traffic."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from cw.arena.transports.networks import is_public
from cw.errors import Failure

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

UNIX: Final[int] = getattr(socket, "AF_UNIX", socket.AF_UNSPEC)
"""The family of Unix sockets, which Python does not support on Windows."""

AddressInfo = tuple[
    int | socket.AddressFamily,
    int | socket.SocketKind,
    int,
    str,
    tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes],
]
"""An entry returned by `socket.getaddrinfo`."""


def bound_unix(path: Path) -> socket.socket:
    """Return a Unix socket bound to a path; raise Failure if impossible.

    Systems accept paths of about 100 bytes.
    """
    listener = socket.socket(UNIX)
    try:
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        raise Failure(
            f"a socket cannot be created at {path}: {error.strerror or error};"
            " set TMPDIR to a folder with a short path and free space"
        ) from None
    return listener


class Forbidden(OSError):
    """Raised for an address that this host must not connect to."""

    def __init__(self, address: str) -> None:
        """Create the error for an address."""
        super().__init__(errno.EACCES, f"{address} is a private address, which is not allowed here")


@dataclass(slots=True)
class Traffic:
    """Counts the bytes that arrived over its sockets."""

    received: int = 0


class CountingSocket(socket.socket):
    """A socket that counts what it receives and acknowledges it immediately.

    Many small servers send the head and the body of a response separately, and hold the body back
    until the head is acknowledged; kernels delay that by 40 ms on a reused connection. Linux can be
    asked not to, again after every transfer.
    """

    traffic: Traffic

    def send(self, data: ReadableBuffer, flags: int = 0, /) -> int:
        """Send, and prepare to acknowledge the response immediately."""
        sent = super().send(data, flags)
        self._acknowledge_soon()
        return sent

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """Receive and count."""
        data = super().recv(bufsize, flags)
        self._note(len(data))
        return data

    def recv_into(self, buffer: WriteableBuffer, nbytes: int = 0, flags: int = 0) -> int:
        """Receive and count."""
        length = super().recv_into(buffer, nbytes, flags)
        self._note(length)
        return length

    def _note(self, length: int) -> None:
        self.traffic.received += length
        self._acknowledge_soon()

    def _acknowledge_soon(self) -> None:
        if hasattr(socket, "TCP_QUICKACK"):
            try:
                self.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            except OSError:
                return


class Reachable(NamedTuple):
    """The addresses that bots may have."""

    private: bool = True
    """Whether loopback and private addresses are allowed."""
    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """Networks whose addresses are allowed regardless of `private`."""
    https: bool = False
    """Whether only `https://` services are allowed."""

    def takes(self, url: str) -> bool:
        """Return whether the scheme of a URL is allowed."""
        return not self.https or url.startswith("https://")

    def includes(self, address: str) -> bool:
        """Return whether a bot may have an IP address."""
        if self.private or is_public(address):
            return True
        return any(ip_address(address.partition("%")[0]) in network for network in self.networks)


ANYWHERE: Final = Reachable()


def open_socket(info: AddressInfo, traffic: Traffic, reachable: Reachable) -> CountingSocket:
    """Create the socket for an address that a name resolved to; raise Forbidden if not allowed.

    This is the very address that is connected to next, so a second lookup cannot change it.
    """
    family, kind, protocol, _, address = info
    # Checked after resolution, on the address that is connected to: no DNS rebinding between check
    # and use.
    if not reachable.includes(str(address[0])):
        raise Forbidden(str(address[0]))
    connection = CountingSocket(family, kind, protocol)
    connection.traffic = traffic
    return connection
