"""The Paint wire protocol (rule book, "On the wire"): lines, with `turns_left` as nonce."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from cw.errors import ProtocolError, UsageError
from cw.games.paint.conduct import not_enough
from cw.games.paint.rules import judge, latest, state_message, turn_document
from cw.games.paint.state import PLAYER_ID, Action, State
from cw.games.rules import Fault, Json, Player
from cw.games.wire import (
    Ignore,
    LineMessage,
    Query,
    QueryLimits,
    Referee,
    Reply,
    Transport,
    compact,
    read_json,
)

READY: Final = QueryLimits(seconds=5.0, grace=0.05)
TURN: Final = QueryLimits(seconds=0.5, grace=0.05)
QUOTED: Final = 200
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class PaintProtocol:
    """Greets every bot, then asks all of them concurrently for each turn."""

    transports: Sequence[Transport] = ("lines",)
    signed_with: str | None = None
    options: Sequence[str] = ()

    def players(self, names: Sequence[str]) -> Sequence[Player]:
        """Return the bots' names, which are their ids; raise UsageError for an invalid name."""
        for name in names:
            if not PLAYER_ID.fullmatch(name):
                raise UsageError(
                    f"name {name!r} must be 1 to 64 letters, digits or the characters _ . -"
                )
        return names

    async def conduct(self, referee: Referee) -> None:
        """Run a match."""
        players = list(referee.names)
        state: State = referee.rules.new(players, referee.seed, **referee.options)
        greetings = await referee.ask({player: greeting(player) for player in players})
        referee.begin(state)
        for player, answer in greetings.items():
            if isinstance(answer, Fault):
                referee.disqualify(player, answer)
        ready = [p for p in players if not isinstance(greetings[p], Fault)]
        ended = not_enough(state, ready)
        if ended is not None:
            referee.finish(ended)
            return
        messages = Messages(state)
        while state.turns_left:
            message = LineMessage(messages.of(state), numbered=True)
            query = Query(message, partial(read_answer, state.turns_left), TURN, action=True)
            state = referee.step(await referee.ask(dict.fromkeys(players, query)))


class Messages:
    """Builds the state messages of a match; the turns in them are encoded only once."""

    def __init__(self, state: State) -> None:
        """Initialize the messages of a match, with no turns encoded yet."""
        self.players = state.players
        self.turns: deque[bytes] = deque(maxlen=state.history)
        """The encoded turns that are shown to players."""
        self._known = 0

    def of(self, state: State) -> bytes:
        """Return the message of the next state."""
        fresh = state.previous[self._known :]
        self._known = len(state.previous)
        if state.history is not None:
            fresh = latest(fresh, state.history)
        self.turns.extend(compact(turn_document(self.players, turn)) for turn in fresh)
        rest = compact(state_message(state, 0))
        empty = b'"previous_actions":[]'
        return rest.replace(empty, b'"previous_actions":[' + b",".join(self.turns) + b"]", 1)


def greeting(player: Player) -> Query:
    """Return the query that sends a bot its id and waits until it is ready."""
    return Query(
        LineMessage(compact({"player_id": player}), numbered=True),
        read_ready,
        READY,
        explain=not_ready,
    )


def not_ready(fault: Fault) -> Fault:
    """Convert any failure before the bot is ready into the fault `startup`."""
    return replace(fault, kind="startup")


def read_ready(reply: Reply) -> Json | Ignore:
    """Read the ready line; any other line is skipped."""
    document = decode(reply.body)
    if isinstance(document, dict) and document.get("ready") is True:
        return document
    return Ignore(Fault("startup", f'expected {{"ready":true}}, but it wrote {quote(reply.body)}'))


def read_answer(turns_left: int, reply: Reply) -> Action | Fault | Ignore:
    """Read the reply to a turn."""
    document = decode(reply.body)
    nonce = document.get("turns_left") if isinstance(document, dict) else None
    if type(nonce) not in (int, float):
        why = "no JSON object with a number turns_left"
        return Ignore(Fault("malformed", f"{why}: {quote(reply.body)}"))
    if nonce != turns_left:
        return Ignore(Fault("timeout", f"answered turns_left {nonce}, asked for {turns_left}"))
    action = judge({"type": document.get("type"), "direction": document.get("direction")})
    if action is None:
        expected = 'type "walk" or "shoot" and direction two of -1, 0, 1, not both 0'
        return Fault("illegal", f"expected {expected}, not {quote(reply.body)}")
    return action


def decode(line: bytes) -> Json:
    """Parse JSON; return None if it is invalid."""
    try:
        return read_json(line.removeprefix(BYTE_ORDER_MARK))
    except ProtocolError:
        return None


def quote(line: bytes) -> str:
    """Return the beginning of a line, quoted for a message."""
    return repr(line[:QUOTED].decode(errors="replace"))
