"""The table: one match between bots that we ask, from its first question to its last."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from cw.arena.bots import BotSpec
from cw.arena.seats import Answer, Seat
from cw.games.codec import Codec, Game
from cw.games.rules import Fault, Json, Outcome, Player, Rules
from cw.games.wire import Query, Transport, WireProtocol


@dataclass(frozen=True, slots=True)
class Turn:
    """What was handed to the rules at once, and the seconds that each bot took for it."""

    actions: Mapping[Player, Any]
    seconds: Mapping[Player, float]


@dataclass(frozen=True, slots=True)
class NotedFault:
    """A fault as it was seen: in which turn (the number of turns played), by whom."""

    turn: int
    player: Player
    fault: Fault

    def to_json(self) -> dict[str, Json]:
        """Return it for reports."""
        return {
            "turn": self.turn,
            "player": self.player,
            "kind": self.fault.kind,
            "detail": self.fault.detail,
        }


Watcher = Callable[["MatchRecord"], None]
"""Is shown the match after its start and after every turn."""


@dataclass(slots=True)
class MatchRecord:
    """A match as far as it has been played."""

    game: Game
    bots: Mapping[Player, BotSpec]
    seed: int
    options: Mapping[str, Json]
    start: Any = None
    state: Any = None
    turns: list[Turn] = field(default_factory=list)
    faults: list[NotedFault] = field(default_factory=list)
    stopped: Outcome | None = None
    """An outcome that the rules do not know."""
    stderr: dict[Player, str] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome | None:
        """How the match ended; None while it is played."""
        if self.stopped is not None or self.state is None:
            return self.stopped
        return self.game.rules.outcome(self.state)


class MatchReferee:
    """Seats that are asked, and the match that is played at them (see `wire.Table`)."""

    def __init__(
        self, played: MatchRecord, seats: Mapping[Player, Seat], watch: Watcher | None = None
    ) -> None:
        """Sit the bots down; nobody has been asked anything."""
        self.played = played
        self.seats = seats
        self.watch = watch
        self.gone: dict[Player, Fault] = {}
        self.seconds: dict[Player, float] = {}

    @property
    def rules(self) -> Rules[Any, Any, Any]:
        """The rules."""
        return self.played.game.rules

    @property
    def codec(self) -> Codec[Any, Any, Any]:
        """What the values of the game are as JSON."""
        return self.played.game.codec

    @property
    def names(self) -> Mapping[Player, str]:
        """The name of each player's bot, in seat order."""
        return {player: bot.name for player, bot in self.played.bots.items()}

    @property
    def options(self) -> Mapping[str, Json]:
        """The options of the game."""
        return self.played.options

    @property
    def seed(self) -> int:
        """The seed of the game."""
        return self.played.seed

    @property
    def state(self) -> Any:
        """The current state."""
        return self.played.state

    def shape(self, player: Player) -> Transport:
        """Return how a player is reached."""
        return self.seats[player].shape

    def address(self, player: Player) -> str | None:
        """Return the base address of a bot that is a web service."""
        bot = self.played.bots[player]
        return bot.target if bot.kind == "http" else None

    def setting(self, player: Player, name: str) -> str | None:
        """Return a setting of a player's bot."""
        return self.played.bots[player].settings.get(name)

    def token(self) -> str:
        """Draw 32 hexadecimal digits."""
        return secrets.token_hex(16)

    def now(self) -> int:
        """Return the Unix time."""
        return int(time.time())

    def begin(self, state: Any) -> None:
        """Take the start state."""
        self.played.start = self.played.state = state
        if self.watch:
            self.watch(self.played)

    async def ask(self, queries: Mapping[Player, Query]) -> dict[Player, Any]:
        """Ask all at the same time; give each one's value or Fault when all are done."""
        answers = await asyncio.gather(*(self._ask(player, ask) for player, ask in queries.items()))
        values = {}
        for (player, ask), answer in zip(queries.items(), answers, strict=True):
            values[player] = answer.value
            if ask.action:
                self.seconds[player] = answer.seconds
            if isinstance(answer.value, Fault):
                self.note(player, answer.value)
        return values

    async def _ask(self, player: Player, ask: Query) -> Answer:
        if player in self.gone:
            return Answer(self.gone[player], 0.0)
        look = partial(self.rules.observe, self.played.state, player)
        return await self.seats[player].ask(ask, look)

    def step(self, actions: Mapping[Player, Any]) -> Any:
        """Apply actions and faults by the rules."""
        played = self.played
        played.state = self.rules.step(played.state, actions)
        played.turns.append(Turn(dict(actions), self.seconds))
        self.seconds = {}
        if self.watch:
            self.watch(played)
        return played.state

    def note(self, player: Player, fault: Fault) -> None:
        """Keep a fault for the report, once for a player who is asked no more."""
        if self.gone.get(player) != fault:
            self.played.faults.append(NotedFault(len(self.played.turns), player, fault))

    def disqualify(self, player: Player, fault: Fault) -> None:
        """Ask a player nothing more."""
        self.gone[player] = fault

    def finish(self, outcome: Outcome) -> None:
        """End the match with an outcome that the rules do not know."""
        self.played.stopped = outcome


async def play(
    protocol: WireProtocol,
    played: MatchRecord,
    seats: Mapping[Player, Seat],
    watch: Watcher | None = None,
) -> MatchRecord:
    """Play a match; afterwards all seats are closed, also when it was cancelled."""
    try:
        await protocol.conduct(MatchReferee(played, seats, watch))
    finally:
        played.stderr = {player: seat.stderr for player, seat in seats.items()}
        await asyncio.gather(*(seat.close() for seat in seats.values()))
    return played
