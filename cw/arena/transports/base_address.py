"""Parsing the base URL of a bot that is a web service; this is its only parser."""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from typing import Final, NamedTuple

from cw.errors import UsageError, short

PORTS: Final = {"http": 80, "https": 443}
LAST_PORT: Final = 65535

# Narrower than the URL standard, so that every library parses what is left in the same way: the
# host that is checked and counted is the one that is connected to.
ADDRESS: Final = re.compile(
    r"""(?P<scheme>https?)://
        (?P<host>[a-z0-9_.-]{1,253} | \[[0-9a-f:.]{2,45}(?:%(?!25)[a-z0-9_.-]{1,32})?\])
        (?: :(?P<port>[0-9]{1,5}) )?
        (?P<path>(?:/[!$&'()*+,;=:@%a-z0-9._~|\[\]-]*)*)""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)


class BaseAddress(NamedTuple):
    """The parts of a base URL."""

    scheme: str
    host: str
    """In lower case; an IPv6 address without brackets."""
    port: int
    text: str
    """The whole URL, without a trailing slash."""


def read_base(base: str) -> BaseAddress:
    """Parse a base URL; raise UsageError if it cannot be that of a server.

    >>> read_base("https://Bots.example/me/")
    BaseAddress(scheme='https', host='bots.example', port=443, text='https://Bots.example/me')
    """
    match = ADDRESS.fullmatch(base)
    if match is not None:
        scheme, host = match["scheme"].lower(), match["host"].lower()
        port = int(match["port"] or PORTS[scheme])
        if 0 < port <= LAST_PORT and (host[0] != "[" or is_ipv6(host[1:-1])):
            return BaseAddress(scheme, host.strip("[]"), port, base.rstrip("/"))
    raise UsageError(
        f"{short(base)} is not a base address of a bot: http or https, a host, optional port and"
        " path, and nothing else, such as http://127.0.0.1:3000"
    )


def is_ipv6(text: str) -> bool:
    """Return whether a text is an IPv6 address."""
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


def check_base(base: str) -> str:
    """Return a base URL without a trailing slash; raise UsageError if invalid."""
    return read_base(base).text
