"""Seats: how the referee asks one bot, whatever it is. A seat never raises for what a bot does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from cw.games.rules import Fault
from cw.games.wire import Query, Transport

QUOTED: Final = 2048
"""Bytes of a reply that its owner is shown."""

Look: TypeAlias = Callable[[], Any]
"""Returns what the player may see now."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query came to: a value or a Fault, and the time of the bot, in seconds."""

    value: Any
    seconds: float
    passed_over: Fault | None = None
    """What came before it that could not be read."""
    said: bytes = b""
    """The beginning of the reply, as it came; empty where nothing was sent."""


class Seat(Protocol):
    """A bot that can be asked."""

    transport: Transport

    @property
    def stderr(self) -> str:
        """What the bot wrote to its standard error, as far as it was kept."""

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask once."""

    async def close(self) -> None:
        """Leave nothing of the bot running that we have started."""
