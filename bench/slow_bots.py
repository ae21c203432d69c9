"""Bots of Hexagon that reply slowly, and to `GET /health`: `python -m bench.slow_bots`.

Each prefix of the paths of a bot's requests is the base URL of another bot; requests below `/hang`
get no response in time.
"""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from typing import Final

from aiohttp import web

from cw.games.registry import load_bot_handler
from cw.games.wire import BotContext, Request
from cw.matches.run import strategy_for

GAME: Final = "hexagon"
THINKING: Final = 0.02
"""Seconds that a bot needs for each answer."""

HANGING: Final = 60.0
"""Seconds in which nothing is answered: longer than anybody waits."""


async def answer(request: web.Request) -> web.Response:
    """Answer what is asked of a bot."""
    _, kind, path = request.path_qs.split("/", 2)
    if kind == "hang":
        await asyncio.sleep(HANGING)
    if path == "health":
        return web.Response(text='{"status": "ok"}')
    call = Request(request.method, f"/{path}", await request.read(), dict(request.headers))
    await asyncio.sleep(THINKING)
    reply = HANDLER.answer(call)
    if reply is None:
        return web.Response(status=404)
    return web.Response(status=reply.status, body=reply.body, headers=dict(reply.headers))


def say_nothing(_: str) -> None:
    """Keep the log empty."""


HANDLER: Final = load_bot_handler(
    GAME, BotContext(partial(strategy_for, GAME, "random", seed=0), {}, lambda: 0.0, say_nothing)
)


async def main() -> None:
    """Serve until standard input ends, as it does when the parent is gone."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
