"""Problems between settings that are valid one by one: too little access, or too much."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from cw.arena.transports.networks import is_public
from cw.server.names import LOCAL_NAMES
from cw_hub.operation.settings import HubSettings

MOST_PROXIES: Final = 256
"""Maximum size of a network that may consist of proxies alone, in addresses."""


def problems(settings: HubSettings) -> Iterator[str]:
    """Yield what must be fixed before people use a site with these settings."""
    if not settings.has_safe_accounts:
        yield "accounts are disabled without https: set CW_PUBLIC_URL=https://..."
    elif is_https(settings.public_url) and not settings.trusted_proxy:
        yield "no proxy is trusted to report https: set CW_TRUSTED_PROXY"
    yield from problems_of_links(settings)
    yield from problems_of_bots(settings)


def problems_of_links(settings: HubSettings) -> Iterator[str]:
    """Yield why browsers could not follow links to replays."""
    url = settings.store_public_url
    if not url:
        return
    host = urlsplit(url).hostname or ""
    leave_out = "or leave it out: then the site serves replays itself"
    if is_https(settings.address) and not is_https(url):
        yield f"browsers block http:// on an https site: correct CW_STORE_PUBLIC_URL, {leave_out}"
    elif not settings.is_local and is_private(host):
        yield f"browsers elsewhere cannot reach {host}: correct CW_STORE_PUBLIC_URL, {leave_out}"


def problems_of_bots(settings: HubSettings) -> Iterator[str]:
    """Yield what players' bots could reach in the networks of the hub."""
    first, *networks = settings.bots_may_be
    if settings.is_local or not settings.public_url:
        return
    if first == "any":
        networks = ["any"]
    inner = [network for network in networks if not is_public_network(network)]
    if inner:
        yield (
            f"bots of all players may have addresses in {', '.join(inner)}, and so probe "
            "services there: set CW_BOT_NETWORK=public, and CW_HOUSE_NETWORK for bots of your own"
        )


def warnings(settings: HubSettings) -> Iterator[str]:
    """Yield what is acceptable only if something else makes up for it."""
    wide = [name for name in settings.trusted_proxy if size_of(name) > MOST_PROXIES]
    if wide:
        yield (
            f"any machine in {', '.join(wide)} can forge the address of its clients: set "
            "CW_TRUSTED_PROXY to the proxy alone, or let nothing else reach the pages"
        )


def is_https(url: str) -> bool:
    """Return whether an address uses https."""
    return url.startswith("https:")


def is_private(host: str) -> bool:
    """Return whether a host is known to be unreachable from the internet."""
    try:
        return not is_public(str(ip_address(host)))
    except ValueError:
        return host in LOCAL_NAMES or "." not in host or host.endswith((".local", ".internal"))


def is_public_network(network: str) -> bool:
    """Return whether a network is on the open internet; `any` is not."""
    return network != "any" and is_public(str(ip_network(network).network_address))


def size_of(network: str) -> int:
    """Return how many addresses a network has; for IPv6, how many /64."""
    parsed = ip_network(network)
    return parsed.num_addresses if parsed.version == 4 else 2 ** max(0, 64 - parsed.prefixlen)
