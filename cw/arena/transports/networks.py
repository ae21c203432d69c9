"""Networks that are not public: IANA's special-purpose ones, the same on any Python version.

From the IANA registries of special-purpose IPv4 and IPv6 addresses, on which Python versions
differ. Blocks with a few reachable parts, such as 192.0.0.0/24, are excluded as a whole: what can
be reached there are nearby routers and relays, not bots.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

SPECIAL_IPV4: Final = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private use
            "100.64.0.0/10",  # shared by the customers of a provider
            "127.0.0.0/8",  # loopback
            "169.254.0.0/16",  # link-local
            "172.16.0.0/12",  # private use
            "192.0.0.0/24",  # protocol assignments
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112: nearby name servers
            "192.52.193.0/24",  # AMT: nearby relays
            "192.88.99.0/24",  # 6to4 relays, deprecated
            "192.168.0.0/16",  # private use
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)

GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
"""All addresses of the public internet; the rest of IPv6 is special or not allocated."""

SPECIAL_IPV6: Final = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments: Teredo, benchmarks, AMT, ORCHID and others
            "2001:db8::/32",  # documentation
            "2620:4f:8000::/48",  # AS112
            "3fff::/20",  # documentation
        ),
    )
)
"""Special networks within `GLOBAL_UNICAST`, except 6to4, which wraps an IPv4 address."""

NAT64: Final = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Return whether an address is public, looking inside one that wraps an IPv4 address.

    Raises ValueError for a text that is not an address.
    """
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        inner = _wrapped(parsed)
        if inner is None:
            is_special = any(parsed in network for network in SPECIAL_IPV6)
            return parsed in GLOBAL_UNICAST and not is_special
        parsed = inner
    return not any(parsed in network for network in SPECIAL_IPV4)


def _wrapped(address: IPv6Address) -> IPv4Address | None:
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    # IPv6 can wrap a private IPv4 address, which a check of the outer one would let through.
    return address.ipv4_mapped or address.sixtofour
