"""The seat of a web service, or of a program that serves HTTP."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Final, cast

from cw.arena.bots import BotSpec
from cw.arena.launch import LaunchPolicy, prepare, start
from cw.arena.sandbox import ProgramNeeds
from cw.arena.seats import QUOTED as SEATS_QUOTED
from cw.arena.seats import Answer, Look, Seat
from cw.arena.seats.wrappers import FailedSeat
from cw.arena.transports.base_address import read_base
from cw.arena.transports.http import HttpBot
from cw.arena.transports.lines import SILENT, HeadAndTail
from cw.arena.transports.sockets import Reachable, Traffic
from cw.arena.transports.stdio import Answer as StdioAnswer
from cw.arena.transports.stdio import StdioBot
from cw.arena.transports.tunnel import reach
from cw.errors import UsageError
from cw.games.rules import Fault
from cw.games.wire import SERVER_ERROR, Query, Reply, Request, Transport, plain_text

MOMENT: Final = 0.5
"""Seconds to wait after a broken connection until the program's exit is noticed."""


class HttpSeat:
    """A web service, and its program if we started it."""

    transport: Transport = "http"

    def __init__(self, service: HttpBot, process: StdioBot | None = None) -> None:
        """Seat a service that is ready."""
        self.service = service
        self.process = process

    @property
    def stderr(self) -> HeadAndTail:
        """Head and tail of its program's standard output and standard error."""
        return self.process.stderr if self.process else SILENT

    async def ask(self, query: Query, look: Look) -> Answer:
        """Send the request."""
        began = perf_counter()
        reply = await self.service.request(cast(Request, query.message), query.limits)
        if isinstance(reply, Fault):
            seconds = perf_counter() - began
            return Answer(query.explain(await self._with_reason(reply)), seconds)
        value = query.read(reply)
        if isinstance(value, Fault) and value.cause == SERVER_ERROR:
            value = await self._with_exception(value, reply)
        return Answer(value, reply.seconds, beginning=reply.body[:SEATS_QUOTED])

    async def _with_exception(self, fault: Fault, reply: Reply) -> Fault:
        """Return a fault with the exception that the program printed, unless the reply has one."""
        if self.process is None or plain_text(reply.body):
            return fault
        # The output is already in the pipe, as programs write it before they reply.
        await self.process.take_in()
        exception, limit = self.process.exception, self.process.limit
        return replace(fault, note=": ".join(filter(None, (fault.note, exception, limit))))

    async def _with_reason(self, fault: Fault) -> Fault:
        """Return a fault, changed to `crashed` if the program that we started has ended."""
        if self.process is None:
            return fault
        ended = await self.process.ended(MOMENT if fault.kind == "disconnected" else 0.0)
        return replace(fault, kind="crashed", detail=ended.detail, lasting=True) if ended else fault

    async def close(self) -> None:
        """Close the connections; end the program if we started it."""
        await self.service.close()
        if self.process:
            await self.process.close()


SERVICE_READY: Final = 10.0
"""Seconds within which the program of a web service must start listening."""

LOOK: Final = 0.02
"""Seconds between two checks of whether it is listening."""

KNOCKED: Final = 1.0
"""Time limit of a check in seconds: a bot can stop its forwarder, which then never replies."""

LISTENING: Final = b"listening on "

OWN_NAMES: Final = ("127.0.0.1", "localhost", "0.0.0.0", "::", "::1")  # noqa: S104

PLAIN: Final = "no request is sent: here the address of a bot must begin with https://"

QUOTED: Final = 200


def service_at(address: str, reachable: Reachable) -> Seat:
    """Seat a web service that is already running; raise UsageError if the URL is invalid."""
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
    """Return a service's URL once the program prints it, or once its port is open.

    Returns the fault `startup` if the program ended, printed an invalid URL, or is not ready in
    time.
    """
    clock = asyncio.get_running_loop().time
    until = clock() + SERVICE_READY
    while clock() < until:
        reply = await program.receive(0)
        if isinstance(reply, StdioAnswer):
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
    """Return the URL that a program claims to listen on, if it is on its own host.

    Otherwise it could make us send requests to any server.
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
    """Return whether a port accepts connections, on this host or behind a tunnel."""
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
