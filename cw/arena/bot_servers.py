"""Servers for built-in strategies as external bots, over HTTP or standard input and output."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from aiohttp import web

from cw.errors import UsageError
from cw.games.wire import BotHandler, LineMessage, Request

LARGEST_BODY: Final = 16 * 1024 * 1024
"""Maximum bytes of a request body: enough for the largest map of End of Codes."""

log = logging.getLogger(__name__)


def serve_http(service: BotHandler, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; raise UsageError if the port is unavailable."""
    app = web.Application(client_max_size=LARGEST_BODY)
    lock = asyncio.Lock()

    async def handle(request: web.Request) -> web.Response:
        body = await request.read()
        call = Request(request.method, request.path_qs, body, dict(request.headers))
        async with lock:
            reply = await asyncio.to_thread(service.answer, call)
        if reply is None:
            return web.Response(status=404)
        log.info("%s %s %s", request.method, request.path, reply.status)
        return web.Response(status=reply.status, body=reply.body, headers=dict(reply.headers))

    app.router.add_route("*", "/{path:.*}", handle)
    listener = open_port(host, port)
    address = f"http://{host}:{listener.getsockname()[1]}"

    async def announce(_: web.Application) -> None:
        ready(address)

    app.on_startup.append(announce)
    web.run_app(app, sock=listener, print=None, access_log=None)


def open_port(host: str, port: int) -> socket.socket:
    """Listen on a port; raise UsageError if it is unavailable."""
    listener = socket.socket()
    if sys.platform != "win32":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise UsageError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    return listener


def serve_lines(service: BotHandler) -> None:
    """Reply to lines on standard input until it ends."""
    with suppress(BrokenPipeError, KeyboardInterrupt):
        for line in sys.stdin.buffer:
            reply = service.answer(LineMessage(line.rstrip(b"\r\n")))
            if reply is not None:
                sys.stdout.buffer.write(reply.body + b"\n")
                sys.stdout.buffer.flush()
