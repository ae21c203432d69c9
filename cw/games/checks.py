"""The checks that a bot of a game passes before it may play, and how they are reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from cw.games.rules import Fault, Json, Player
from cw.games.wire import Referee, Reply, Transport


class CheckReport(Protocol):
    """Receives the steps of a check one by one."""

    def step(self, name: str, problem: Fault | str | None, fix: str) -> bool:
        """Record a step and its problem, None for success; return whether it passed.

        May raise instead of returning False, which stops the check.
        """

    def warn(self, name: str, problem: Fault | str | None, fix: str) -> None:
        """Record a step that fails no bot: good bots pass it, but the rules do not require it."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Matches that a bot under check must play without a fault."""

    name: str
    options: Mapping[str, Json]
    opponents: Sequence[str]
    """Built-in strategies."""
    start: Json = None
    """A recorded state to start from instead of a new game."""
    seats: Sequence[int] = (0, -1)
    """The bot's seats, one match for each: first, then last."""
    turns: int | None = None
    """Number of turns after which a match is stopped; None plays it to its end."""
    note: str = ""
    """What a fault means if it does not fail the bot; "" if it does."""
    by_contest: bool = False
    """Whether a check for a contest plays with the contest's options instead."""


class Checks(Protocol):
    """The checks that a bot of a game passes before it may play."""

    trials: Sequence[Trial]

    def steps(self, transport: Transport) -> int:
        """Return how many steps `probe` reports for a correct bot reached over `transport`."""

    async def probe(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Send a bot one request after another, and report each step."""


class Admission(Protocol):
    """The checks of a web service before it may play on a site."""

    async def health(self, referee: Referee, player: Player, report: CheckReport) -> bool:
        """Request its health alone; return whether it is healthy."""

    async def protocol(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Check whether it speaks the protocol."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """The result of asking a bot whether it is ready to play."""

    request: str
    """The request, such as `GET /bot`."""
    passed: Sequence[str]
    """The steps that passed, in order, each as a sentence."""
    failed: str = ""
    """The problem, or ""; it ends with a question that the rules answer."""
    fault: Fault | None = None
    reply: Reply | None = None
    """None if no reply arrived."""


@runtime_checkable
class ReadyChecks(Checks, Protocol):
    """The checks of a game that asks all bots whether they are ready before it starts."""

    async def ready(self, referee: Referee) -> Mapping[Player, Readiness]:
        """Ask all bots at once whether they are ready."""
