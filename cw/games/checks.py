"""What a bot of a game is tried with before it may play, and how that is reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from cw.games.rules import Fault, Json, Player
from cw.games.wire import Referee, Reply, Transport


class CheckReport(Protocol):
    """Takes the steps of a check one by one."""

    def step(self, name: str, problem: Fault | str | None, fix: str) -> bool:
        """Note a step and what was wrong, None for nothing; tell whether it is fine.

        It may raise instead of returning False: then nothing more is asked.
        """

    def warn(self, name: str, problem: Fault | str | None, fix: str) -> None:
        """Note a step that no bot fails: a good bot passes it, but the rules do not ask for it."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Matches that a bot under check must play without a fault."""

    name: str
    options: Mapping[str, Json]
    opponents: Sequence[str]
    """Built-in strategies."""
    start: Json = None
    """A recorded state to begin with instead of a new game."""
    seats: Sequence[int] = (0, -1)
    """Where the bot sits, a match for each: first, and once more last."""
    turns: int | None = None
    """After how many turns a match is broken off; None: it is played to its end."""
    note: str = ""
    """What a fault means where it does not decide about the bot; "" where it does."""
    by_contest: bool = False
    """Whether a bot that is checked for a contest plays with the options of that instead."""


class Checks(Protocol):
    """What a bot of a game is tried with before it may play."""

    trials: Sequence[Trial]

    def steps(self, transport: Transport) -> int:
        """Return how many steps `probe` reports of a bot that is fine and is reached so."""

    async def probe(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Ask a bot one thing after the other, and report each step."""


class Admission(Protocol):
    """What a web service is asked before it may play on a site."""

    async def health(self, referee: Referee, player: Player, report: CheckReport) -> bool:
        """Ask for its health alone; return whether it is well."""

    async def protocol(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Ask whether it speaks the protocol."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """What came of asking a bot whether it is ready to play."""

    request: str
    """What was asked, such as `GET /bot`."""
    passed: Sequence[str]
    """The steps that were fine, in their order, each as a sentence."""
    failed: str = ""
    """What is wrong, "" if nothing is; it ends with a question that the rules answer."""
    fault: Fault | None = None
    reply: Reply | None = None
    """None where none came."""


@runtime_checkable
class ReadyChecks(Checks, Protocol):
    """The checks of a game that asks all bots whether they are ready before it begins."""

    async def ready(self, referee: Referee) -> Mapping[Player, Readiness]:
        """Ask all bots at once whether they are ready."""
