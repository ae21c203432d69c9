"""The host names that a server accepts: a page under any other name may be untrusted."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from cw.errors import UsageError

BEYOND: Final = (
    (socket.AF_INET, "192.0.2.1"),
    (socket.AF_INET6, "2001:db8::1"),
)
"""Unassigned IP addresses, so that the route to them leaves this host."""


def addresses_in_networks(listener: socket.socket) -> list[str]:
    """Return the base URLs of a server that listens on all networks, the likeliest first."""
    port = listener.getsockname()[1]
    only_version = 4 if listener.family == socket.AF_INET else None
    hosts = dict.fromkeys(own_addresses())
    return [
        f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        for host in hosts
        if is_of_network(host) and only_version in (None, ip_address(host).version)
    ]


def own_addresses() -> Iterator[str]:
    """Yield the IP addresses of this host, starting with that of its default network."""
    for family, beyond in BEYOND:
        # Connecting a UDP socket sends nothing; it only selects the route.
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((beyond, 9))
            yield probe.getsockname()[0]
    with suppress(OSError):
        for *_, address in socket.getaddrinfo(socket.gethostname(), None):
            yield str(address[0])


def machine_names() -> frozenset[str]:
    """Return the names by which other hosts on the network may know this one."""
    name = socket.gethostname().lower().removesuffix(".")
    first = name.partition(".")[0]
    return frozenset({name, first, f"{first}.local"} if first else ())


def is_of_network(host: str) -> bool:
    """Return whether other hosts can reach an IP address."""
    address = ip_address(host)
    return not (address.is_loopback or address.is_link_local or address.is_unspecified)


LOCAL_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})
"""The names by which a browser on this host reaches the server."""

HOST: Final = r"(?P<host>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?"
"""A host, optionally with a port, as browsers write them in lower case."""


@dataclass(frozen=True, slots=True)
class HostNames:
    """The host names that a server accepts in requests."""

    names: frozenset[str] = LOCAL_NAMES
    any_address: bool = False
    """Whether every IP address is accepted: no resolver can point one at another host."""

    @classmethod
    def of(cls, host: str, *more: str) -> HostNames:
        """Return the names of a server that listens at a host, plus additional ones.

        Raises UsageError if a text is not a host name.
        """
        names = LOCAL_NAMES | {canonical(host), *map(read_name, more)}
        if not is_unspecified(host):
            return cls(names)
        return cls(names | machine_names(), any_address=True)

    def include(self, header: str) -> bool:
        """Return whether a Host header names this server, on any port: it may be forwarded."""
        match = re.fullmatch(HOST, header.lower())
        name = canonical(match["host"]) if match else ""
        return name in self.names or (self.any_address and is_address(name))


def read_name(text: str) -> str:
    """Return a host name in its canonical form; raise UsageError if invalid."""
    try:
        name = canonical(text.encode("idna").decode())
    except UnicodeError:
        name = ""
    if not is_address(name) and not re.fullmatch(HOST, name + ":0"):
        raise UsageError(
            f"{text[:200]!r} is not a host name: give it without http://, port and path, such as"
            " arena.example"
        )
    return name


def canonical(host: str) -> str:
    """Return the canonical form of a host."""
    name = host.lower().removesuffix(".")
    bare = name.removeprefix("[").removesuffix("]")
    return ip_address(bare).compressed if is_address(bare) else name


def is_address(name: str) -> bool:
    """Return whether a host name is an IP address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_unspecified(host: str) -> bool:
    """Return whether listening on this IP address means listening on all networks of the host."""
    return is_address(host) and ip_address(host).is_unspecified
