"""Opens the seats of web services: those that run elsewhere, and programs that serve one."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from cw.arena.bots import BotSpec
from cw.arena.launch import LaunchPolicy, prepare, start
from cw.arena.sandbox import ProgramNeeds
from cw.arena.seats import Seat
from cw.arena.seats.http import HttpSeat
from cw.arena.seats.wrappers import FailedSeat
from cw.arena.transports.base_address import read_base
from cw.arena.transports.http import HttpBot
from cw.arena.transports.sockets import Reachable, Traffic
from cw.arena.transports.stdio import Answer, StdioBot
from cw.arena.transports.tunnel import reach
from cw.errors import UsageError
from cw.games.rules import Fault

SERVICE_READY: Final = 10.0
"""Seconds that the program of a web service has until it must listen."""

LOOK: Final = 0.02
"""Seconds between two checks whether it listens."""

KNOCKED: Final = 1.0
"""Time limit of a check in seconds: a bot can stop its forwarder, which then never answers."""

LISTENING: Final = b"listening on "

OWN_NAMES: Final = ("127.0.0.1", "localhost", "0.0.0.0", "::", "::1")  # noqa: S104

PLAIN: Final = "no request is sent: here the address of a bot must begin with https://"

QUOTED: Final = 200


def service_at(address: str, reachable: Reachable) -> Seat:
    """Seat a web service that is already running; raise UsageError if the address is invalid."""
    if not reachable.takes(address):
        return FailedSeat("http", Fault("disconnected", PLAIN, "forbidden"))
    return HttpSeat(HttpBot(address, reachable=reachable))


async def open_service(bot: BotSpec, policy: LaunchPolicy, stack: ExitStack) -> Seat:
    """Start the program of a web service, and wait until it listens."""
    port = free_port()
    needs = ProgramNeeds({"PORT": str(port), "BOT_PORT": str(port)}, serves=True)
    prepared = await prepare(bot, bot.command, policy, stack, needs)
    if isinstance(prepared, Fault):
        return FailedSeat("http", prepared)
    started = await start(prepared)
    if isinstance(started, Fault):
        return FailedSeat("http", started)
    try:
        address = await wait_until_ready(started, port, prepared.tunnel)
    except BaseException:
        await started.close(grace=0)
        raise
    if isinstance(address, Fault):
        await started.close()
        return FailedSeat("http", address, started)
    started.keep_output()
    return HttpSeat(HttpBot(address, door=prepared.tunnel), started)


async def wait_until_ready(program: StdioBot, port: int, tunnel: Path | None) -> str | Fault:
    """Return the address of a service once it prints it, or once its port is open.

    The fault is `startup`: it ended, printed an invalid address, or is not ready in time.
    """
    clock = asyncio.get_running_loop().time
    until = clock() + SERVICE_READY
    while clock() < until:
        reply = await program.receive(0)
        if isinstance(reply, Answer):
            if reply.line.startswith(LISTENING):
                address = reply.line.removeprefix(LISTENING).decode(errors="replace")
                return own_address(address.strip())
            program.stderr.feed(reply.line + b"\n")
        if ended := await program.ended(LOOK):
            return Fault("startup", ended.detail)
        if await accepts(port, tunnel):
            return f"http://127.0.0.1:{port}"
    return Fault(
        "startup",
        f"it was not ready within {SERVICE_READY:g} s: it must listen on 127.0.0.1 and the port"
        f' in PORT (here {port}), or print "listening on URL"',
    )


def own_address(address: str) -> str | Fault:
    """Return the address that a program claims to listen on, if it is on its own machine.

    Otherwise it could make us send requests to anybody.
    """
    try:
        base = read_base(address)
        if base.scheme == "http" and base.host in OWN_NAMES:
            return base.text
    except UsageError:
        pass
    return Fault(
        "startup",
        f'it printed "listening on {address[:QUOTED]}"; expected http:// and a port on its own'
        " machine, such as http://127.0.0.1:3000",
    )


async def accepts(port: int, tunnel: Path | None) -> bool:
    """Return whether a port accepts connections, on this machine or behind a tunnel."""
    try:
        async with asyncio.timeout(KNOCKED):
            if tunnel:
                (await reach(tunnel, port, Traffic())).close()
            else:
                (await asyncio.open_connection("127.0.0.1", port))[1].close()
    except OSError:
        return False
    return True


def free_port() -> int:
    """Return a currently unused port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
