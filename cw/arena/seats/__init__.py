"""Seats: the referee's interface to a bot of any kind. A seat never raises for what a bot does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from cw.arena.transports.lines import HeadAndTail
from cw.games.rules import Fault
from cw.games.wire import Query, Transport

QUOTED: Final = 2048
"""Bytes of a reply that are shown to the bot's owner."""

Look: TypeAlias = Callable[[], Any]
"""Returns what the player may see now."""


STRAY: Final = "stray"
"""The cause of the fault that reports lines which are not answers; it costs nothing."""


SKIPPED: Final = "skipped"
"""The cause of the fault for a turn in which a bot was skipped because it had long been late."""


@dataclass(frozen=True, slots=True)
class StrayLines:
    """Lines on a program's standard output that are not answers, such as debug output."""

    number: int
    first: str
    """The beginning of the first one, quoted."""

    def and_then(self, later: StrayLines) -> StrayLines:
        """Return these lines combined with later ones."""
        return StrayLines(self.number + later.number, self.first)

    @property
    def fault(self) -> Fault:
        """The fault that reports them, once per match."""
        lines = "a line that is not an answer"
        if self.number > 1:
            lines = f"{self.number} lines that are not answers, the first of them"
        detail = f"the program printed {lines}: {self.first}; print debug output to standard error"
        return Fault("malformed", detail, STRAY)


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a query: a value or a Fault, and the bot's time in seconds."""

    value: Any
    seconds: float
    stray: StrayLines | None = None
    """Lines before it that were not answers."""
    beginning: bytes = b""
    """The beginning of the raw reply; empty if nothing was sent."""


class Seat(Protocol):
    """A bot that can be asked."""

    transport: Transport

    @property
    def stderr(self) -> HeadAndTail:
        """The bot's standard error output, as far as it is retained."""

    async def ask(self, query: Query, look: Look) -> Answer:
        """Send one query, and return the answer."""

    async def close(self) -> None:
        """End everything that we started for the bot."""
