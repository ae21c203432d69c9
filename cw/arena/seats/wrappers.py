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
"""Of so many turns a bot that has long been late is asked in one."""


class PacedSeat:
    """A seat that slows down its answers, for spectators."""

    def __init__(self, seat: Seat, pace: float) -> None:
        """Let every action take `pace` seconds or more."""
        self.seat = seat
        self.pace = pace
        self.transport = seat.transport

    @property
    def stderr(self) -> HeadAndTail:
        """What the bot wrote."""
        return self.seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask, and wait if the answer came soon; the bot's own time stays what it was."""
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
    """A seat that is not asked in every turn once its bot has long been late.

    A loop without end would else take the whole time of each turn to the end of the match.
    """

    def __init__(self, seat: Seat, patience: int) -> None:
        """Ask in one turn of ASKED_IN after `patience` turns in a row without an answer in time."""
        self.seat = seat
        self.patience = patience
        self.transport = seat.transport
        self._late = 0
        """Turns in a row, of those in which it was asked, without an answer in time."""
        self._skipped = 0
        self._fault: Fault | None = None
        """That of the last one."""

    @property
    def stderr(self) -> HeadAndTail:
        """What the bot wrote."""
        return self.seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask, or say the same as in the last turn in which it was asked."""
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
        """Wait until a bot may think."""

    def think(self, began: float) -> None:
        """Note a thought that began at a moment of `perf_counter` and ends now."""

    def turn(self) -> None:
        """Note that a turn has been played."""


class MeteredSeat:
    """A seat of a bot in this process whose processor time is measured."""

    def __init__(self, seat: Seat, meter: Meter) -> None:
        """Measure a seat."""
        self.seat = seat
        self.meter = meter
        self.transport = seat.transport

    @property
    def stderr(self) -> HeadAndTail:
        """What the bot wrote."""
        return self.seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask once the bot may think."""
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
    """The seat of a bot that could not be started: each question gets the reason."""

    def __init__(self, transport: Transport, fault: Fault, program: StdioBot | None = None) -> None:
        """Keep the reason."""
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
        """Do nothing: nothing runs."""


class SandboxedSeat:
    """A seat whose program runs in a sandbox that goes with it."""

    def __init__(self, seat: Seat, box: ExitStack) -> None:
        """Take over the sandbox."""
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
