"""A name resolver that returns only allowed addresses and does not reveal internal names."""

from __future__ import annotations

import asyncio
import errno
from socket import AF_INET, AddressFamily
from typing import Final

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from cw.arena.transports.sockets import Reachable

REFUSED_AFTER: Final = 2.0
"""Seconds after which a name without an allowed address is refused, however early that is known.

Otherwise the delay would reveal whether a name exists in this host's network.
"""

NOT_HERE: Final = "the name has no address that bots may use here"


class QuietResolver(AbstractResolver):
    """Resolves names to the allowed ones among their addresses.

    A name that does not resolve and one whose addresses are internal are refused alike: with the
    same error, after the same time.
    """

    def __init__(self, reachable: Reachable) -> None:
        """Resolve to reachable addresses only."""
        self._reachable = reachable
        self._resolver = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: AddressFamily = AF_INET
    ) -> list[ResolveResult]:
        """Return the allowed addresses of a name; raise OSError if it has none."""
        clock = asyncio.get_running_loop().time
        until = clock() + REFUSED_AFTER
        try:
            async with asyncio.timeout_at(until):
                addresses = await self._resolver.resolve(host, port, family)
        except (OSError, TimeoutError):
            addresses = []
        allowed = [address for address in addresses if self._reachable.includes(address["host"])]
        if not allowed:
            await asyncio.sleep(until - clock())
            raise OSError(errno.EACCES, NOT_HERE)
        return allowed

    async def close(self) -> None:
        """Close the underlying resolver."""
        await self._resolver.close()
