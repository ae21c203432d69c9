"""The wire protocol (seed, "Communication protocol"): status codes, responses and turn order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from types import MappingProxyType
from typing import Final, TypeAlias

from cw.errors import GameStarted, InvalidTeamId, RegistrationError, TeamIdTaken, UsageError
from cw.games.circuit_wars.board import parse_move
from cw.games.circuit_wars.fast_board import FastBoard
from cw.games.circuit_wars.rules import Action, State
from cw.games.rules import Fault, Json, Player
from cw.games.wire import Query, QueryLimits, Referee, Transport, as_it_is

Turn: TypeAlias = Mapping[Player, Action | Fault]

TIMEOUT: Final = 3.0
"""Default seconds per turn."""

NO_LIMIT: Final = -1

STATUS: Final = MappingProxyType(
    {
        100: "The game has not started yet (waiting for both players)",
        101: "The game has not started yet (waiting for the second player)",
        201: "It's Player 1's turn",
        202: "It's Player 2's turn",
        301: "The game has finished, Player 1 won",
        302: "The game has finished, Player 2 won",
        401: "The game has ended because of an illegal move by Player 1",
        402: "The game has ended because of an illegal move by Player 2",
        501: "The game has ended because of time-out by Player 1",
        502: "The game has ended because of time-out by Player 2",
    }
)
"""The status codes and their texts."""

REGISTRATION_ERRORS: Final = MappingProxyType({InvalidTeamId: 1, TeamIdTaken: 2, GameStarted: 3})
"""The error codes of rejected registrations."""


REGISTERED: Final = 10.0
"""Seconds within which a client must register."""


class CircuitWarsProtocol:
    """Players register in turn, then move in turn; one who moves out of turn loses.

    Bots connect to the arena's server as clients. The option `timeout` is the time per turn in
    seconds, or -1 for no limit; built-in strategies and human players have no limit.
    """

    transports: Sequence[Transport] = ("client",)
    signed_with: str | None = None
    options: Sequence[str] = ("timeout",)

    def players(self, names: Sequence[str]) -> Sequence[Player]:
        """Return the player numbers, starting at 1."""
        return range(1, len(names) + 1)

    async def conduct(self, referee: Referee) -> None:
        """Run a game."""
        limit = time_limit(referee.protocol_options.get("timeout", TIMEOUT))
        limits = QueryLimits(float("inf") if limit is None else limit)
        referee.begin(referee.rules.new(len(referee.names), referee.seed, **referee.options))
        for player in referee.names:
            if referee.state.ended is None:
                joins = Query("registration", as_it_is, QueryLimits(REGISTERED))
                await self.ask(referee, player, joins)
        moves = Query("move", as_it_is, limits, action=True)
        while referee.state.ended is None:
            await self.ask(referee, referee.state.player, moves)

    async def ask(self, referee: Referee, player: Player, query: Query) -> None:
        """Wait for a player or a move out of turn by another client; apply what arrives first."""
        nothing = Query("nothing", as_it_is, QueryLimits(float("inf")))
        clients = [other for other in referee.names if referee.transport(other) == "client"]
        others = {other: nothing for other in clients if other != player}
        answers = await referee.ask_first({player: query, **others})
        if query.action or any(isinstance(answer, Fault) for answer in answers.values()):
            referee.step(answers)


def time_limit(timeout: Json) -> float | None:
    """Return the seconds per turn, or None for no limit; raise UsageError if invalid."""
    if timeout == NO_LIMIT:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
        raise UsageError(
            f"the time limit must be a number of seconds above 0, or -1 for none, not {timeout!r}"
        )
    return float(timeout)


def status_code(registered: int, state: State) -> int:
    """Return the status code of a game, given the number of registered teams."""
    if state.winner is not None:
        loser = 3 - state.winner
        return {"finished": 300 + state.winner, "illegal": 400 + loser, "timeout": 500 + loser}[
            state.ended or "finished"
        ]
    return 100 + registered if registered < 2 else 200 + state.player


def milliseconds(time_left: float | None) -> int:
    """Return the remaining seconds in whole milliseconds, rounded up, or -1 without a clock."""
    # Rounding first stops float noise below a microsecond from adding a millisecond.
    return -1 if time_left is None else ceil(round(time_left * 1000, 3))


def status_document(registered: int, state: State, time_left: float | None) -> dict[str, Json]:
    """Return the `/status` response; `time_left` is in seconds, or None if no clock is running."""
    code = status_code(registered, state)
    return {
        "status_code": code,
        "status": STATUS[code],
        "score_1": state.scores[0],
        "score_2": state.scores[1],
        "time_left": milliseconds(time_left),
        "last_move": state.last_move,
        "board_size": state.size,
        "board": [list(row) for row in state.board],
    }


def registered(player: int) -> dict[str, Json]:
    """Return the response to an accepted registration."""
    return {"response": "OK", "player": player}


def not_registered(refusal: RegistrationError) -> dict[str, Json]:
    """Return the response to a rejected registration."""
    return {
        "response": "ERROR",
        "error_code": REGISTRATION_ERRORS[type(refusal)],
        "message": str(refusal),
    }


def history_document(start: State, turns: Sequence[Turn]) -> dict[str, Json]:
    """Return the moves of a game as `[player, move, points]`, and the fault that ended it."""
    fast = FastBoard.from_squares(start.board)
    moves: list[list[Json]] = []
    fault = None
    for turn in turns:
        for player, action in turn.items():
            if isinstance(action, Fault):
                fault = {"player": player, "kind": action.kind, "detail": action.detail}
            else:
                segment = fast.geometry.by_move[parse_move(action)]
                moves.append([player, action, fast.draw(segment)])
    return {"moves": moves, "fault": fault}
