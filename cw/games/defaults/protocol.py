"""The wire protocol of games without their own (docs/default-protocol.md).

A view goes out, an action comes in: as lines of JSON to a program, or as requests to a web service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, Final

import msgspec

from cw import documents
from cw.errors import ProtocolError, UsageError, short
from cw.games.codec import Game, is_fault
from cw.games.play_options import Moves
from cw.games.rules import Fault, Json, Player
from cw.games.status_faults import status_fault
from cw.games.wire import (
    Ignore,
    LineMessage,
    Query,
    QueryLimits,
    Referee,
    Reply,
    Request,
    Transport,
    compact,
    read_json,
)

TIMEOUT: Final = 1.0
"""Default seconds per action."""

LONGEST_TIMEOUT: Final = 3600.0
STARTING: Final = 5.0
"""Extra seconds for a program's first answer, while it starts."""

GRACE: Final = 0.05
"""Seconds for our own scheduling; not promised to bots."""

PATH: Final = "/act"
MOST_ACTIONS: Final = 200
"""Most actions listed in a question."""

EXAMPLES: Final = 8
"""Examples to draw in a game that does not list its actions."""

QUOTED: Final = 200
"""Bytes of an answer quoted in a message."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Question(msgspec.Struct, frozen=True):
    """A question to a bot: its view, and which player it is."""

    game: str
    match: str
    """The same text in all questions of a match, and different in every other match."""
    player: Player
    turn: int
    """Turns played before; the answer must repeat it."""
    view: Any
    actions: list[Any] = []
    """Allowed actions: all of them if the game lists them, otherwise examples."""


class Answer(msgspec.Struct, frozen=True):
    """A bot's answer."""

    action: Any
    turn: int | None = None


class DefaultProtocol:
    """Asks all players who are to move at the same time, turn by turn.

    The option `timeout` is the time per action in seconds; strategies and people have no limit.
    """

    transports: Sequence[Transport] = ("lines", "http")
    signed_with: str | None = None
    options: Sequence[str] = ("timeout",)

    def __init__(self, game: Game, moves: Moves | None = None) -> None:
        """Run matches of this game; `moves` lists a player's actions, if available."""
        self.rules = game.rules
        self.moves = moves

    def players(self, names: Sequence[str]) -> Sequence[Player]:
        """Return the players as a new game with this many of them names them."""
        number = max(len(names), self.rules.seats.start)
        return self.rules.players(self.rules.new(number, 0))[: len(names)]

    async def conduct(self, referee: Referee) -> None:
        """Run a match."""
        questions = Questions(referee, self.moves)
        referee.begin(referee.rules.new(len(referee.names), referee.seed, **referee.options))
        while referee.rules.outcome(referee.state) is None:
            await questions.play_turn()


class Questions:
    """The questions of one match."""

    def __init__(self, referee: Referee, moves: Moves | None = None) -> None:
        """Prepare the questions of a match; raise UsageError if the time limit is invalid."""
        self.referee = referee
        self.moves = moves
        self.rng = Random(referee.token())
        self.timeout = time_limit(referee.protocol_options.get("timeout", TIMEOUT))
        self.match = referee.token()[:16]
        self.turn = 0
        self.asked: set[Player] = set()

    async def play_turn(self) -> None:
        """Ask all players who are to move, and apply their actions."""
        self.apply(await self.ask(self.referee.rules.to_move(self.referee.state)))

    async def ask(self, players: Sequence[Player]) -> dict[Player, Any]:
        """Return the action or the fault of each player.

        A program that failed to start or crashed is not asked again.
        """
        answers = await self.referee.ask({player: self.query(player) for player in players})
        for player, answer in answers.items():
            if isinstance(answer, Fault) and answer.kind in ("startup", "crashed"):
                self.referee.disqualify(player, answer)
        return answers

    def apply(self, actions: Mapping[Player, Any]) -> None:
        """Apply actions and faults by the rules, and advance to the next turn."""
        self.referee.step(actions)
        self.turn += 1

    def query(self, player: Player) -> Query:
        """Return the question to a player."""
        referee = self.referee
        view = referee.codec.view_to_json(referee.rules.observe(referee.state, player))
        actions = self.actions(player)
        question = Question(referee.rules.name, self.match, player, self.turn, view, actions)
        text = compact(msgspec.structs.asdict(question))
        reader = ActionReader(self.turn, partial(self.action_of, referee.state, player))
        if referee.transport(player) == "http":
            call = Request("POST", PATH, text, {"Content-Type": "application/json"})
            return Query(call, reader.from_response, QueryLimits(self.timeout, GRACE), action=True)
        limits = QueryLimits(self.timeout + self.starting(player), GRACE)
        return Query(LineMessage(text, numbered=True), reader.from_line, limits, action=True)

    def actions(self, player: Player) -> list[Json]:
        """Return legal actions of a player, at most MOST_ACTIONS."""
        rules, state = self.referee.rules, self.referee.state
        if self.moves is not None:
            moves = self.moves(state, player)
            return list(
                moves if len(moves) <= MOST_ACTIONS else self.rng.sample(moves, MOST_ACTIONS)
            )
        drawn = [rules.sample(state, player, self.rng) for _ in range(EXAMPLES)]
        documents = [self.referee.codec.action_to_json(action) for action in drawn]
        return [each for place, each in enumerate(documents) if each not in documents[:place]]

    def starting(self, player: Player) -> float:
        """Return extra seconds for a program to start, for its first answer only."""
        first = player not in self.asked
        self.asked.add(player)
        return STARTING if first else 0.0

    def action_of(self, state: Any, player: Player, document: Json) -> Any:
        """Read the action of a player; raise ProtocolError if it is not one."""
        if is_fault(document):
            raise ProtocolError(f"expected an action, not {short(document)}")
        return self.referee.codec.actions_from_json(state, {str(player): document})[player]


@dataclass(frozen=True, slots=True)
class ActionReader:
    """Reads the answers to one question."""

    turn: int
    action_of: Callable[[Json], Any]

    def from_line(self, reply: Reply) -> Any | Fault | Ignore:
        """Return the action of a line; ignore a late answer to another turn."""
        answer = decoded(reply.body)
        if isinstance(answer, Fault):
            return self.unreadable(answer, reply)
        if answer.turn is None:
            return self.unreadable(Fault("malformed", "it names no turn"), reply)
        if answer.turn != self.turn:
            return Ignore(Fault("timeout", self.another_turn(answer)))
        return self.action(answer, reply)

    def from_response(self, reply: Reply) -> Any | Fault:
        """Return the action in a web service's response, which need not name the turn."""
        if not 200 <= reply.status <= 299:
            return status_fault(reply)
        answer = decoded(reply.body)
        if isinstance(answer, Fault):
            return self.unreadable(answer, reply)
        if answer.turn not in (None, self.turn):
            return Fault("malformed", self.another_turn(answer))
        return self.action(answer, reply)

    def unreadable(self, why: Fault, reply: Reply) -> Fault:
        """Return the fault of a malformed answer."""
        expected = f'expected {{"turn": {self.turn}, "action": ...}}'
        return Fault("malformed", f"{expected}, but it wrote {quote(reply.body)}: {why.detail}")

    def another_turn(self, answer: Answer) -> str:
        """Return the message for an answer to another turn."""
        return f"it answered turn {answer.turn}, but turn {self.turn} was asked for"

    def action(self, answer: Answer, reply: Reply) -> Any | Fault:
        """Return the action of an answer, or the fault `malformed`."""
        try:
            return self.action_of(answer.action)
        except ProtocolError as error:
            return Fault("malformed", f"{error}; it wrote {quote(reply.body)}")


def time_limit(timeout: Json) -> float:
    """Return seconds; raise UsageError unless it is a number above 0 and at most an hour."""
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if number and 0 < timeout <= LONGEST_TIMEOUT:
        return float(timeout)
    raise UsageError(
        f"timeout must be a number of seconds above 0 and up to {LONGEST_TIMEOUT:g},"
        f" not {short(timeout)}"
    )


def decoded(body: bytes) -> Answer | Fault:
    """Parse an answer."""
    try:
        return documents.convert(read_json(body.removeprefix(BYTE_ORDER_MARK)), Answer)
    except (ProtocolError, msgspec.ValidationError) as error:
        return Fault("malformed", str(error))


def quote(body: bytes) -> str:
    """Return the beginning of an answer for a message."""
    return repr(body[:QUOTED].decode(errors="replace"))
