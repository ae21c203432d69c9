"""The vectors of Paint."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from cw.games.paint.rules import Paint, state_message
from tests.kits.steps import Step, Vector, compact, vector


def paint() -> Iterator[Vector]:
    game = Paint()
    ready = {"send": '{"player_id":"p1"}', "reply": {"json": {"ready": True}}}
    steps: list[Step] = [ready]
    state, rng = game.new(["p1", "p2", "p3"], 7, width=4, height=3, turns=12), Random(1)
    while game.to_move(state):
        steps.append(turn_of(compact(state_message(state)), state.turns_left))
        state = game.step(
            state, {player: game.sample(state, player, rng) for player in ("p1", "p2")}
        )
    yield vector("a whole game", steps)
    large = compact(state_message(game.new(["p1", "p2"], 7, board="rocks")))
    yield vector("obstacles", [ready, turn_of(large, 130)])
    example = (
        '{"width":3,"height":2,"player_positions":{"alice":[0,0],"bob":[1,1]},"colors":'
        '[["alice","alice",null],[null,"bob","bob"]],"turns_left":5,"previous_actions":'
        '[{"alice":{"type":"walk","direction":[0,-1]},"bob":{"type":"shoot","direction":[0,1]}}]}'
    )
    alice = {"send": '{"player_id":"alice"}', "reply": {"json": {"ready": True}}}
    yield vector("the document's example", [alice, turn_of(example, 5)])
    nonsense = ("", "   ", "?", "[]", "7", "null", '"x"', "{}", '{"turns_left":3}', "[" * 5000)
    skipped = [{"send": line} for line in nonsense]
    yield vector("lines that are no message", [alice, *skipped, turn_of(example, 5)])
    spaced = example.replace(",", " , ").replace(":", " : ") + "  \r"
    yield vector("spaces and a carriage return", [alice, turn_of(spaced, 5)])


def turn_of(line: str, turns_left: int) -> Step:
    return {"send": line, "reply": {"action": turns_left}}
