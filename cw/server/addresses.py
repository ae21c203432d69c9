"""The addresses at which other machines reach a server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

BEYOND: Final = (
    (socket.AF_INET, "192.0.2.1"),
    (socket.AF_INET6, "2001:db8::1"),
)
"""Addresses assigned to nobody, so that the route to them leaves this machine."""


def addresses_in_networks(listener: socket.socket) -> list[str]:
    """Return the base addresses of a server that listens on all networks, the likeliest first."""
    port = listener.getsockname()[1]
    only_version = 4 if listener.family == socket.AF_INET else None
    hosts = dict.fromkeys(own_addresses())
    return [
        f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        for host in hosts
        if is_of_network(host) and only_version in (None, ip_address(host).version)
    ]


def own_addresses() -> Iterator[str]:
    """Yield the addresses of this machine, starting with that of its default network."""
    for family, beyond in BEYOND:
        # Connecting a UDP socket sends nothing; it only selects the route.
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((beyond, 9))
            yield probe.getsockname()[0]
    with suppress(OSError):
        for *_, address in socket.getaddrinfo(socket.gethostname(), None):
            yield str(address[0])


def machine_names() -> frozenset[str]:
    """Return the names by which other machines on the network may know this one."""
    name = socket.gethostname().lower().removesuffix(".")
    first = name.partition(".")[0]
    return frozenset({name, first, f"{first}.local"} if first else ())


def is_of_network(host: str) -> bool:
    """Return whether other machines can reach an address."""
    address = ip_address(host)
    return not (address.is_loopback or address.is_link_local or address.is_unspecified)
