"""Seats that wrap another seat, and a seat that stands in for one that failed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import ExitStack
from dataclasses import replace
from time import perf_counter
from typing import Any, Final, Protocol

from cw.arena.seats import SKIPPED, Answer, Look, Seat
from cw.arena.transports.lines import SILENT, HeadAndTail
from cw.arena.transports.stdio import StdioBot
from cw.games.rules import Fault
from cw.games.wire import Query, Transport

ASKED_IN: Final = 10
"""A bot that has long been late is asked in one out of this many turns."""


class PacedSeat:
    """A seat that slows its answers down for spectators."""

    def __init__(self, seat: Seat, pace: float) -> None:
        """Make every action take at least `pace` seconds."""
        self.seat = seat
        self.pace = pace
        self.transport = seat.transport

    @property
    def stderr(self) -> HeadAndTail:
        """What the bot wrote."""
        return self.seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask, and delay an early answer; the bot's own time is not affected."""
        clock = asyncio.get_running_loop().time
        began = clock()
        answer = await self.seat.ask(query, look)
        if query.action:
            await asyncio.sleep(self.pace - (clock() - began))
        return answer

    async def close(self) -> None:
        """Close the seat."""
        await self.seat.close()


class ImpatientSeat:
    """A seat that skips most turns once its bot has long been late.

    Otherwise a bot in an endless loop would use up the whole time limit in every turn to the end of
    the match.
    """

    def __init__(self, seat: Seat, patience: int) -> None:
        """After `patience` late turns in a row, ask in only one turn of ASKED_IN."""
        self.seat = seat
        self.patience = patience
        self.transport = seat.transport
        self._late = 0
        """Number of consecutive late answers, counting only turns in which it was asked."""
        self._skipped = 0
        self._fault: Fault | None = None
        """The last of these faults."""

    @property
    def stderr(self) -> HeadAndTail:
        """What the bot wrote."""
        return self.seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask, or repeat the fault of the last turn in which it was asked."""
        if not query.action:
            return await self.seat.ask(query, look)
        if self._fault and self._late >= self.patience and self._skipped < ASKED_IN - 1:
            self._skipped += 1
            return Answer(replace(self._fault, cause=SKIPPED), 0.0)
        self._skipped = 0
        answer = await self.seat.ask(query, look)
        value = answer.value
        self._fault = value if isinstance(value, Fault) and value.kind == "timeout" else None
        self._late = self._late + 1 if self._fault else 0
        return answer

    async def close(self) -> None:
        """Close the seat."""
        await self.seat.close()


class Meter(Protocol):
    """Measures the processor time of the bots of a match, and makes them pause."""

    async def rest(self) -> None:
        """Wait until a bot may compute."""

    def think(self, began: float) -> None:
        """Record a computation from `began`, a time of `perf_counter`, until now."""

    def turn(self) -> None:
        """Record that a turn has been played."""


class MeteredSeat:
    """A seat that measures the processor time of a bot in this process."""

    def __init__(self, seat: Seat, meter: Meter) -> None:
        """Measure the bot in a seat."""
        self.seat = seat
        self.meter = meter
        self.transport = seat.transport

    @property
    def stderr(self) -> HeadAndTail:
        """What the bot wrote."""
        return self.seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask once the bot may compute."""
        if not query.action:
            return await self.seat.ask(query, look)
        await self.meter.rest()
        began = perf_counter()
        answer = await self.seat.ask(query, look)
        self.meter.think(began)
        return answer

    async def close(self) -> None:
        """Close the seat."""
        await self.seat.close()


class FailedSeat:
    """The seat of a bot that could not be started: every query gets the reason."""

    def __init__(self, transport: Transport, fault: Fault, program: StdioBot | None = None) -> None:
        """Store the reason."""
        self.transport = transport
        self.fault = replace(fault, lasting=True)
        self.program = program

    @property
    def stderr(self) -> HeadAndTail:
        """What it wrote before it failed."""
        return self.program.stderr if self.program else SILENT

    async def ask(self, query: Query, look: Look) -> Answer:
        """Return the reason."""
        return Answer(query.explain(self.fault), 0.0)

    async def close(self) -> None:
        """Do nothing, as nothing is running."""


class SandboxedSeat:
    """A seat whose program runs in a sandbox that it owns."""

    def __init__(self, seat: Seat, box: ExitStack) -> None:
        """Take ownership of the sandbox."""
        self.seat = seat
        self.box = box
        self.transport = seat.transport

    @property
    def stderr(self) -> HeadAndTail:
        """What the program wrote."""
        return self.seat.stderr

    def ask(self, query: Query, look: Look) -> Coroutine[Any, Any, Answer]:
        """Ask the program."""
        return self.seat.ask(query, look)

    async def close(self) -> None:
        """End the program, then remove its working copy."""
        try:
            await self.seat.close()
        finally:
            self.box.close()
