"""The vectors of Circuit Wars."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from cw.games.circuit_wars import board
from cw.games.circuit_wars.protocol import status_document
from cw.games.circuit_wars.rules import CircuitWars
from tests.kits.steps import Step, Vector, vector


def circuit_wars() -> Iterator[Vector]:
    for player in (1, 2):
        yield scripted(f"a whole game as player {player}", player, 100)
    for code in (401, 402, 501, 502):
        yield scripted(f"a game that ends with {code}", 1, 5, code)
    refused = {"response": "ERROR", "error_code": 2, "message": "taken"}
    step = {"paths": ["/reg/vector"], "answer": refused}
    yield vector("a refused registration", [step]) | {"exit": 1, "says": ""}


def scripted(name: str, player: int, turns: int, code: int | None = None) -> Vector:
    """Write a game of size 3 down, in which other moves are made than the bot may choose."""
    game, rng = CircuitWars(), Random(player)
    state = game.new(2, 0, size=3)
    registered = {"response": "OK", "player": player}
    waiting = {"paths": ["/status"], "answer": status_document(1, state, None)}
    steps: list[Step] = [{"paths": ["/reg/vector"], "answer": registered}, waiting]
    while game.to_move(state) and turns:
        turns -= 1
        steps.append({"paths": ["/status"], "answer": status_document(2, state, 3.0)})
        free, mover = [f"/move/vector/{move}" for move in names(state.board)], state.player
        state = game.step(state, {mover: game.sample(state, mover, rng)})
        if mover == player:
            steps.append({"paths": free, "answer": status_document(2, state, 3.0)})
    end = status_document(2, state, None)
    if code:
        end |= {"status_code": code, "status": "It has ended"}
    if steps[-1]["answer"]["status_code"] < 300:
        steps.append({"paths": ["/status"], "answer": end})
    won = end["status_code"] % 10 == player if not code else code % 10 != player
    return vector(name, steps) | {"exit": 0, "says": "You won." if won else "You lost."}


def names(squares: board.Squares) -> list[str]:
    """Return both names of every free segment."""
    words = []
    for move in board.free_moves(squares):
        words += [str(move)]
        across = move.from_across()
        if across.is_on(len(squares)):
            words.append(str(across))
    return words
