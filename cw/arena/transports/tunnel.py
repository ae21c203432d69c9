"""Connects to a web service in its own network, through the Unix socket of its forwarder."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from pathlib import Path
from typing import Any, Final

import aiohttp
from aiohttp.client_proto import ResponseHandler

from cw.arena.transports.sockets import UNIX, CountingSocket, Traffic

OPEN: Final = b"+"
"""The forwarder's reply if the port accepts connections."""


class TunnelConnector(aiohttp.BaseConnector):
    """Connects to the ports of a service through the Unix socket of its forwarder.

    Only the port of a URL matters.
    """

    def __init__(self, door: Path, traffic: Traffic, **options: Any) -> None:
        """Store the door; `options` are those of aiohttp's connectors."""
        super().__init__(**options)
        self._door = door
        self._traffic = traffic

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: object, timeout: object
    ) -> ResponseHandler:
        try:
            reached = await reach(self._door, req.url.port or 80, self._traffic)
            _, protocol = await self._loop.create_connection(self._factory, sock=reached)
        except OSError as error:
            raise aiohttp.ClientConnectorError(req.connection_key, error) from error
        return protocol


async def reach(door: Path, port: int, traffic: Traffic) -> CountingSocket:
    """Return a connection to a port behind a door; raise OSError if nothing is listening there."""
    loop = asyncio.get_running_loop()
    connection = CountingSocket(UNIX, socket.SOCK_STREAM)
    connection.traffic = Traffic()
    connection.setblocking(False)
    try:
        await loop.sock_connect(connection, str(door))
        await loop.sock_sendall(connection, b"%d\n" % port)
        if await loop.sock_recv(connection, 1) != OPEN:
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    except BaseException:
        connection.close()
        raise
    connection.traffic = traffic
    return connection
