"""Where bots may be: the one rule for the address of every bot, typed, checked or played.

Forms refuse an address by its text alone; which addresses its name leads to is looked up when the
bot is asked, by who asks it, as the answer of a name server may take its time.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final

from cw.arena.transports.base_address import read_base
from cw.errors import UsageError
from cw.hub.operation.settings import HubSettings
from cw.matches.run import reachable_by
from cw.matches.spec import Isolation, SandboxPolicy

INSECURE: Final = "The endpoint must use https"
INTERNAL: Final = "The endpoint must not be an internal address"
LOOPBACK: Final = "127.0.0.1"


def isolation_of(
    settings: HubSettings, sandbox: SandboxPolicy = "require", house: Iterable[str] = ()
) -> Isolation:
    """Return which addresses bots may have; programs run in the sandbox, or as the policy says.

    `house` are the names of the site's own bots among them.
    """
    first, *networks = settings.bots_may_be
    return Isolation(
        sandbox,
        "any" if first == "any" else "public",
        tuple(networks),
        https=settings.bots_need_https,
        house=tuple(house) if settings.house_network else (),
        house_networks=tuple(settings.house_network),
    )


def address_problem(url: str, settings: HubSettings, *, is_house: bool = False) -> str:
    """Return why a bot may not be at an address of a web service here; "" if it may.

    No name is looked up.
    """
    house = (url,) if is_house else ()
    reachable = reachable_by(isolation_of(settings, house=house), url)
    if not reachable.takes(url):
        return INSECURE
    address = literal(host_of(url))
    return "" if address is None or reachable.includes(address) else INTERNAL


def check_address(url: str, settings: HubSettings) -> None:
    """Raise UsageError, with the sentence for people, where a bot may not be at an address."""
    problem = address_problem(url, settings)
    if problem:
        raise UsageError(problem)


def literal(host: str) -> str | None:
    """Return the address that a host stands for without any name server, None for a name."""
    if host == "localhost" or host.endswith(".localhost"):
        return LOOPBACK
    try:
        return str(ip_address(host.partition("%")[0]))
    except ValueError:
        return None


def host_of(url: str) -> str:
    """Return the host of an address in one spelling, by which requests to it are counted.

    Returns "" for an address of before that no server can have: nothing is sent there.
    """
    try:
        host = read_base(url).host.rstrip(".")
    except UsageError:
        return ""
    return literal(host) or host
