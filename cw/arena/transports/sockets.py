"""The sockets to bots that are web services: which addresses they reach, and what came in."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from cw.errors import Failure

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

UNIX: Final[int] = getattr(socket, "AF_UNIX", socket.AF_UNSPEC)
"""The family of sockets in the file system; Python knows none of them on Windows."""

NAT64: Final = IPv6Network("64:ff9b::/96")
INTERNET: Final = IPv6Network("2000::/3")
"""Where all addresses of the open internet are; what Python calls global beside it is not."""

EXAMPLES: Final = IPv6Network("3fff::/20")
"""Addresses for books, which not every Python knows yet."""

AddressInfo = tuple[
    int | socket.AddressFamily,
    int | socket.SocketKind,
    int,
    str,
    tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes],
]
"""An entry of what `socket.getaddrinfo` gives."""


def bound_unix(path: Path) -> socket.socket:
    """Return a Unix socket that is bound to a path; raise Failure if that cannot be.

    Systems take about 100 bytes of a path.
    """
    made = socket.socket(UNIX)
    try:
        made.bind(str(path))
    except OSError as error:
        made.close()
        raise Failure(
            f"no socket can be made at {path}: {error.strerror or error};"
            " set TMPDIR to a folder that has a short path and room"
        ) from None
    return made


class Forbidden(OSError):
    """An address that this machine does not connect to."""

    def __init__(self, address: str) -> None:
        """Name the address."""
        super().__init__(errno.EACCES, f"{address} is a private address, which is not allowed here")


@dataclass(slots=True)
class Traffic:
    """How many bytes came in over the sockets that count here."""

    received: int = 0


class CountingSocket(socket.socket):
    """A socket that counts what it receives and acknowledges it at once.

    Many small servers send the head and the body of an answer apart, and hold the body back until
    the head is acknowledged; kernels delay that by 40 ms on a connection that is kept. Linux can be
    told not to, again after every transfer.
    """

    traffic: Traffic

    def send(self, data: ReadableBuffer, flags: int = 0, /) -> int:
        """Send, and be ready to acknowledge the answer."""
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
    """Which addresses bots may have."""

    private: bool = True
    """Whether loopback and private addresses are among them."""
    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """Networks whose addresses are, whatever `private` says."""

    def includes(self, address: str) -> bool:
        """Return whether a bot may be at an address."""
        if self.private or is_public(address):
            return True
        return any(ip_address(address.partition("%")[0]) in network for network in self.networks)


def open_socket(info: AddressInfo, traffic: Traffic, reachable: Reachable) -> CountingSocket:
    """Make the socket for an address that a name has resolved to; raise Forbidden if it must not.

    This is the very address that is connected to next, so no second look at the name can change it.
    """
    family, kind, protocol, _, address = info
    if not reachable.includes(str(address[0])):
        raise Forbidden(str(address[0]))
    made = CountingSocket(family, kind, protocol)
    made.traffic = traffic
    return made


def is_public(address: str) -> bool:
    """Return whether an address is one of the open internet, also when it wraps one of IPv4."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        inner = _wrapped(parsed)
        if inner is None:
            return parsed.is_global and parsed in INTERNET and parsed not in EXAMPLES
        parsed = inner
    return parsed.is_global and not parsed.is_multicast


def _wrapped(address: IPv6Address) -> IPv4Address | None:
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
