"""Where bots may be: one rule for every bot address, when typed, checked or played.

Forms refuse an address by its text alone. Its name is resolved when the bot is called, by the
caller, as a name server may take its time.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final

from cw.arena.transports.base_address import read_base
from cw.errors import UsageError
from cw.matches.run import reachable_by
from cw.matches.spec import Isolation, SandboxPolicy
from cw_hub.operation.settings import HubSettings

INSECURE: Final = "The endpoint must use https"
INTERNAL: Final = "The endpoint must not be an internal address"
LOOPBACK: Final = "127.0.0.1"


def isolation_of(
    settings: HubSettings, sandbox: SandboxPolicy = "require", house: Iterable[str] = ()
) -> Isolation:
    """Return which addresses bots may have; programs run in the sandbox, or as the policy says.

    `house` names the site's own bots among them.
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
    """Return why a bot may not be at the address of a web service, or "" if it may.

    No name is resolved.
    """
    house = (url,) if is_house else ()
    reachable = reachable_by(isolation_of(settings, house=house), url)
    if not reachable.takes(url):
        return INSECURE
    address = literal(host_of(url))
    return "" if address is None or reachable.includes(address) else INTERNAL


def check_address(url: str, settings: HubSettings) -> None:
    """Raise UsageError, with a message for people, if a bot may not be at an address."""
    problem = address_problem(url, settings)
    if problem:
        raise UsageError(problem)


def literal(host: str) -> str | None:
    """Return the IP address of a host if no name server is needed for it, else None."""
    if host == "localhost" or host.endswith(".localhost"):
        return LOOPBACK
    try:
        return str(ip_address(host.partition("%")[0]))
    except ValueError:
        return None


def host_of(url: str) -> str:
    """Return the host of an address in its normal form, under which requests are counted.

    Returns "" for an old address that is no longer valid: nothing is sent there.
    """
    try:
        host = read_base(url).host.rstrip(".")
    except UsageError:
        return ""
    return literal(host) or host
