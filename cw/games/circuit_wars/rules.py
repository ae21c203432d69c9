"""The rules of Circuit Wars (seed, "Rules"), implementing the arena's `Rules` interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, TypeAlias

from cw.errors import IllegalAction, OutOfTurn, UsageError
from cw.games.circuit_wars import board
from cw.games.circuit_wars.board import Move, Squares, parse_move
from cw.games.rules import (
    Fault,
    Json,
    Outcome,
    Player,
    refuse_unknown_options,
    whole_number,
)

Action: TypeAlias = str
"""A move in the wire format: `x,y,border`."""

Ended: TypeAlias = Literal["finished", "illegal", "timeout"]


@dataclass(frozen=True, slots=True)
class State:
    """A position: the board, who is to move, and how the game ended, if it has.

    `player` is the player to move, or who would move next. `scores` counts the squares of player 1
    and 2. `last_move` is the last valid move as it was sent, or "".
    """

    size: int
    board: Squares
    player: int
    scores: tuple[int, int]
    last_move: str
    ended: Ended | None
    winner: int | None


class CircuitWars:
    """Two players draw one free segment a turn; closing an area gives no extra turn."""

    name = "circuit-wars"
    seats = range(2, 3)

    def new(self, players: Json, seed: int, /, **options: Json) -> State:
        """Return the start state; the options are `size` (7) and `openings` (0).

        `openings` is the number of random segments, chosen with the seed, with which a game starts;
        players 1 and 2 draw them in turn, and player 1 moves next if the number is even.
        """
        if players != 2 or isinstance(players, bool):
            raise UsageError(f"Circuit Wars is for 2 players, not {players!r}")
        refuse_unknown_options(options, ("size", "openings"))
        size = board.check_size(options.get("size", 7))
        whole_number("seed", seed, 0, 2**63 - 1)
        openings = whole_number("openings", options.get("openings", 0), 0, size * size)
        state = State(size, board.empty(size), 1, (0, 0), "", None, None)
        rng = Random(seed)
        for _ in range(openings):
            if state.ended is None:
                state = self.step(state, {state.player: self.sample(state, state.player, rng)})
        return state

    def players(self, state: State) -> tuple[int, int]:
        """Return both players."""
        return (1, 2)

    def to_move(self, state: State) -> tuple[Player, ...]:
        """Return the player to move, or () when the game is over."""
        return () if state.ended else (state.player,)

    def check(self, state: State, player: Player, action: Action) -> None:
        """Raise IllegalAction unless it is the player's turn and the segment is free (rule 5)."""
        legal_move(state, player, action)

    def step(self, state: State, actions: Mapping[Player, Action | Fault]) -> State:
        """Apply the action of the player to move, then any move of the other player out of turn.

        An illegal move or a fault ends the game, and the other player wins; the board and the
        scores stay as they are.
        """
        for player in (state.player, 3 - state.player):
            if player in actions and state.ended is None:
                state = self._apply(state, player, actions[player])
        return state

    def _apply(self, state: State, player: int, action: Action | Fault) -> State:
        if isinstance(action, Fault):
            return lost(state, player, "timeout" if action.kind == "timeout" else "illegal")
        try:
            move = legal_move(state, player, action)
        except IllegalAction:
            return lost(state, player, "illegal")
        return moved(state, player, move, action)

    def observe(self, state: State, player: Player | None) -> State:
        """Return the state itself: nothing is hidden."""
        return state

    def outcome(self, state: State) -> Outcome | None:
        """Return the winner and the scores from the board."""
        if state.ended is None or state.winner is None:
            return None
        return Outcome(
            reason=state.ended,
            winner=state.winner,
            scores={1: state.scores[0], 2: state.scores[1]},
            ranks={state.winner: 1, 3 - state.winner: 2},
        )

    def sample(self, state: State, player: Player, rng: Random) -> Action:
        """Return a uniformly random free segment."""
        return str(rng.choice(board.free_moves(state.board)))


def legal_move(state: State, player: Player, action: Action) -> Move:
    """Return the move of an action; raise IllegalAction if the rules do not allow it."""
    if state.ended:
        raise OutOfTurn("the game is over")
    if player != state.player:
        raise OutOfTurn(f"it is player {state.player}'s turn, not player {player}'s")
    move = parse_move(action)
    board.check_free(state.board, move)
    return move


def moved(state: State, player: int, move: Move, action: Action) -> State:
    """Return the state after a legal move; the game ends when no segment is free."""
    squares = board.draw(state.board, move, player)
    scores = board.scores(squares)
    finished = sum(scores) == state.size**2
    return replace(
        state,
        board=squares,
        player=3 - player,
        scores=scores,
        last_move=action,
        ended="finished" if finished else None,
        winner=(1 if scores[0] > scores[1] else 2) if finished else None,
    )


def lost(state: State, player: int, ended: Ended) -> State:
    """Return the state after the player has lost; nothing else changes."""
    return replace(state, ended=ended, winner=3 - player)
