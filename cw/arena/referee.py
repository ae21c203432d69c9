"""The referee, which runs one match between seats and records the bots' standard error."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Generic, NamedTuple, TypeAlias

from cw.arena.bots import BotSpec, public_fault
from cw.arena.seats import Answer, Seat, StrayLines
from cw.errors import IllegalAction
from cw.games.codec import Codec, Game
from cw.games.rules import Action, Fault, Json, Outcome, Player, Rules, State, View
from cw.games.wire import Query, Transport


@dataclass(frozen=True, slots=True)
class Turn(Generic[Action]):
    """The actions and faults handed to the rules in one step, and the seconds they took."""

    actions: Mapping[Player, Action | Fault]
    seconds: Mapping[Player, float]


@dataclass(slots=True)
class Match(Generic[State, Action, View]):
    """A match in progress. All times are seconds on one clock of the caller's choice."""

    game: Rules[State, Action, View]
    state: State
    limit: float | None
    """The time limit of a turn, or None."""
    began: float
    """When the current turn started, that is, when the previous turn was complete."""
    turns: list[Turn[Action]] = field(default_factory=list)
    """All turns so far."""
    _answers: dict[Player, Action | Fault] = field(default_factory=dict)
    _seconds: dict[Player, float] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the match, or None while it is running."""
        return self.game.outcome(self.state)

    @property
    def waiting(self) -> tuple[Player, ...]:
        """The players who still owe an action for the current turn."""
        return tuple(
            player for player in self.game.to_move(self.state) if player not in self._answers
        )

    @property
    def deadline(self) -> float | None:
        """When the current turn times out; None without a limit or if no one owes an action."""
        return self.began + self.limit if self.limit is not None and self.waiting else None

    def submit(self, player: Player, action: Action, now: float) -> None:
        """Accept an action; an illegal one counts as the fault `illegal`.

        An action after the deadline is judged in the turn that follows the time-out, and ignored if
        that ended the match.
        """
        self.expire(now)
        if self.outcome is not None:
            return
        try:
            self.game.check(self.state, player, action)
        except IllegalAction as error:
            self._take(player, Fault("illegal", str(error)), now)
        else:
            self._take(player, action, now)

    def fault(self, player: Player, fault: Fault, now: float) -> None:
        """Accept a fault instead of an action, from any player at any time."""
        self.expire(now)
        if self.outcome is None:
            self._take(player, fault, now)

    def expire(self, now: float) -> None:
        """Record the fault `timeout` for all who owe an action, if the deadline has passed."""
        deadline = self.deadline
        if deadline is not None and now > deadline:
            for player in self.waiting:
                self._answers[player] = Fault("timeout", f"no action within {self.limit:g} s")
                self._seconds[player] = deadline - self.began
            self._step(deadline)

    def _take(self, player: Player, answer: Action | Fault, now: float) -> None:
        owed = player in self.waiting
        self._answers[player] = answer
        self._seconds[player] = now - self.began
        # A fault of a player who does not owe an action, such as a move out of turn, does not wait
        # for the other players.
        if not owed or not self.waiting:
            self._step(now)

    def _step(self, now: float) -> None:
        """Pass the actions and faults so far to the rules, and start the next turn."""
        self.turns.append(Turn(self._answers, self._seconds))
        self.state = self.game.step(self.state, self._answers)
        self._answers, self._seconds = {}, {}
        self.began = now


TurnPlaces: TypeAlias = tuple[tuple[int, int], ...]
"""The turns with output, in order: each turn's number, and the index where its text starts."""


class Written:
    """Tracks the length of each seat's standard error, turn by turn."""

    def __init__(self, seats: Mapping[Player, Seat]) -> None:
        """Start before the first turn."""
        self._seats: Final = seats
        self._lengths: Final = dict.fromkeys(seats, 0)
        self._begins: Final[dict[Player, list[tuple[int, int]]]] = {player: [] for player in seats}

    def note(self, turn: int) -> None:
        """Attribute new output to a turn, counted from 1; 0 is before the first."""
        for player, seat in self._seats.items():
            length = seat.stderr.length
            if length > self._lengths[player]:
                begins = self._begins[player]
                if not begins or begins[-1][0] != turn:
                    begins.append((turn, self._lengths[player]))
                self._lengths[player] = length

    def turns(self, player: Player) -> TurnPlaces:
        """Return the turns in which a player wrote, and the index in the text where each starts."""
        place = self._seats[player].stderr.place
        return tuple((turn, place(begin)) for turn, begin in self._begins[player])


@dataclass(frozen=True, slots=True)
class NotedFault:
    """A fault as observed: the turn (number of turns played), the player, and the fault."""

    turn: int
    player: Player
    fault: Fault

    def to_json(self) -> dict[str, Json]:
        """Return the fault as JSON for reports."""
        return {
            "turn": self.turn,
            "player": self.player,
            "kind": self.fault.kind,
            "detail": self.fault.sentence,
        }


@dataclass(slots=True)
class MatchRecord:
    """The record of a match so far."""

    game: Game
    bots: Mapping[Player, BotSpec]
    seed: int
    options: Mapping[str, Json]
    """The options of the rules."""
    from_position: bool = False
    """Whether it starts from a given state instead of a new game."""
    start: Any = None
    state: Any = None
    turns: list[Turn[Any]] = field(default_factory=list)
    faults: list[NotedFault] = field(default_factory=list)
    stopped: Outcome | None = None
    """An outcome decided outside the rules."""
    stderr: dict[Player, str] = field(default_factory=dict)
    stderr_turns: dict[Player, TurnPlaces] = field(default_factory=dict)
    """The turns in which each player wrote to standard error."""

    @property
    def outcome(self) -> Outcome | None:
        """How the match ended, or None while it is running."""
        if self.stopped is not None or self.state is None:
            return self.stopped
        return self.game.rules.outcome(self.state)

    def note(self, player: Player, fault: Fault) -> None:
        """Record a fault for the report."""
        self.faults.append(NotedFault(len(self.turns), player, fault))


class StrayNote(NamedTuple):
    """The index of the fault that reports a player's stray lines, and the lines so far."""

    place: int
    lines: StrayLines


Watcher: TypeAlias = Callable[[MatchRecord], None]
"""Called with the match after its start and after every turn.

An error that it raises ends the match.
"""


async def together(queries: Iterable[Coroutine[Any, Any, Answer]]) -> list[Answer]:
    """Await one or more queries concurrently; return their answers when all have arrived.

    The first one runs in the caller's task, which is cheaper than `asyncio.gather`.
    """
    # Most often one bot is queried: a task for it would cost as much as the exchange itself.
    first, *others = queries
    tasks = [asyncio.create_task(other) for other in others]
    try:
        return [await first, *[await task for task in tasks]]
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def readable(output: bytes) -> str:
    """Return part of a reply as text, with a replacement for each undecodable character."""
    text = output.decode(errors="replace")
    return "".join(sign if sign.isprintable() or sign in "\t\n" else "\ufffd" for sign in text)


NO_SECRETS: Final[Mapping[str, Mapping[str, str]]] = {}


class MatchReferee:
    """Queries the seats, and plays the match with their answers (see `wire.Referee`)."""

    def __init__(
        self,
        record: MatchRecord,
        seats: Mapping[Player, Seat],
        protocol_options: Mapping[str, Json],
        watch: Watcher | None = None,
        secrets: Mapping[str, Mapping[str, str]] = NO_SECRETS,
    ) -> None:
        """Seat the bots without asking them anything.

        `secrets` are settings by bot name that take precedence over its own; they may change during
        the match, and each request is signed with the current values.
        """
        self.record = record
        self.secrets = secrets
        self.seats = seats
        self.protocol_options = protocol_options
        self.watch = watch
        self.disqualified: dict[Player, Fault] = {}
        self._gone: set[Player] = set()
        """Players for whom a lasting fault is recorded."""
        self._stray: dict[Player, StrayNote] = {}
        """The fault recorded for stray lines, by player."""
        self._written = Written(seats)
        self.seconds: dict[Player, float] = {}
        self._beginnings: dict[Player, bytes] = {}
        """The reply that each player's last action was read from."""

    @property
    def rules(self) -> Rules[Any, Any, Any]:
        """The rules."""
        return self.record.game.rules

    @property
    def codec(self) -> Codec[Any, Any, Any]:
        """The JSON codec of the game."""
        return self.record.game.codec

    @property
    def names(self) -> Mapping[Player, str]:
        """The name of each player's bot, in seat order."""
        return {player: bot.name for player, bot in self.record.bots.items()}

    @property
    def options(self) -> Mapping[str, Json]:
        """The options of the rules."""
        return self.record.options

    @property
    def seed(self) -> int:
        """The seed of the game."""
        return self.record.seed

    @property
    def state(self) -> Any:
        """The current state."""
        return self.record.state

    def transport(self, player: Player) -> Transport:
        """Return how a player is reached."""
        return self.seats[player].transport

    def address(self, player: Player) -> str | None:
        """Return the base URL of a bot that is a web service."""
        bot = self.record.bots[player]
        return bot.target if bot.kind == "http" else None

    def setting(self, player: Player, name: str) -> str | None:
        """Return the current value of a setting of a player's bot."""
        bot = self.record.bots[player]
        return {**bot.settings, **self.secrets.get(bot.name, {})}.get(name)

    def username(self, player: Player) -> str:
        """Return a bot's username: its setting, or its name in letters, digits and `_`."""
        return self.record.bots[player].username

    def token(self) -> str:
        """Return 32 random hexadecimal digits."""
        return secrets.token_hex(16)

    def now(self) -> int:
        """Return the Unix time."""
        return int(time.time())

    def begin(self, state: Any) -> None:
        """Set the initial state."""
        self.record.start = self.record.state = state
        self._written.note(0)
        self._show()

    async def ask(self, queries: Mapping[Player, Query]) -> dict[Player, Any]:
        """Query players concurrently; return the value or Fault of each when all are done."""
        if not queries:
            return {}
        answers = await together(self._ask(player, query) for player, query in queries.items())
        return {
            player: self._heard(player, queries[player], answer)
            for player, answer in zip(queries, answers, strict=True)
        }

    async def ask_first(self, queries: Mapping[Player, Query]) -> dict[Player, Any]:
        """Query players concurrently; return the first answer, and cancel the other queries."""
        tasks = {
            player: asyncio.ensure_future(self._ask(player, query))
            for player, query in queries.items()
        }
        try:
            await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks.values():
                task.cancel()
        first = next(player for player, task in tasks.items() if task.done())
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        return {first: self._heard(first, queries[first], tasks[first].result())}

    async def _ask(self, player: Player, query: Query) -> Answer:
        if player in self.disqualified:
            return Answer(self.disqualified[player], 0.0)
        # The view is computed only for seats that need it: external bots get what the protocol
        # sends.
        look = partial(self.rules.observe, self.state, player)
        return await self.seats[player].ask(query, look)

    def _heard(self, player: Player, query: Query, answer: Answer) -> Any:
        """Record an answer; return its value."""
        value = answer.value
        if query.action:
            self.seconds[player] = answer.seconds
            self._beginnings[player] = answer.beginning
        if isinstance(value, Fault):
            # The fault is stored in the replay, which anyone may read: local paths are removed
            # first.
            value = public_fault(self.record.bots[player], value)
            value = replace(value, answer=readable(answer.beginning))
            if query.noted:
                self.note(player, value)
        if answer.stray is not None:
            self._note_stray(player, answer.stray)
        return value

    def _note_stray(self, player: Player, lines: StrayLines) -> None:
        """Record lines that are not answers in one fault per match, which counts them all."""
        faults = self.record.faults
        known = self._stray.get(player)
        if known is not None:
            lines = known.lines.and_then(lines)
            place = known.place
            fault = public_fault(self.record.bots[player], lines.fault)
            faults[place] = replace(faults[place], fault=fault)
        else:
            place = len(faults)
            self.note(player, public_fault(self.record.bots[player], lines.fault))
        self._stray[player] = StrayNote(place, lines)

    def step(self, actions: Mapping[Player, Any]) -> Any:
        """Apply actions and faults by the rules; return the new state."""
        record = self.record
        for player, action in actions.items():
            if not isinstance(action, Fault):
                # The rules decide what an illegal action costs; it is recorded here so that every
                # game reports it in the same way (decisions 0005).
                self._note_if_illegal(player, action)
        # All actions of a turn in one step: no one gains by answering first.
        record.state = self.rules.step(record.state, actions)
        record.turns.append(Turn(dict(actions), self.seconds))
        self.seconds = {}
        self._written.note(len(record.turns))
        self._show()
        return record.state

    def _note_if_illegal(self, player: Player, action: Any) -> None:
        """Record an action that the rules do not allow, with the message from the rules."""
        try:
            self.rules.check(self.state, player, action)
        except IllegalAction as error:
            fault = Fault(
                error.kind,
                str(error),
                expected=error.expected,
                actual=error.actual,
                answer=readable(self._beginnings.get(player, b"")),
            )
            self.note(player, fault)

    def note(self, player: Player, fault: Fault) -> None:
        """Record a fault for the report; a lasting one only once."""
        if fault.lasting and player in self._gone:
            return
        self.record.note(player, fault)
        if fault.lasting:
            self._gone.add(player)

    def disqualify(self, player: Player, fault: Fault) -> None:
        """Stop querying a player, whose fault has already been recorded."""
        # The protocol has reported this fault itself; a lasting one is recorded once (see `note`).
        self.disqualified[player] = replace(fault, lasting=True)
        self._gone.add(player)

    def finish(self, outcome: Outcome) -> None:
        """End the match with an outcome decided outside the rules."""
        self.record.stopped = outcome

    def keep_output(self) -> None:
        """Store the bots' error output; output after a turn counts towards the last one."""
        self._written.note(len(self.record.turns))
        for player, seat in self.seats.items():
            self.record.stderr[player] = seat.stderr.text()
            self.record.stderr_turns[player] = self._written.turns(player)

    def _show(self) -> None:
        if self.watch:
            self.watch(self.record)
