"""The vectors of Hexagon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

from cw.games.hexagon.codec import HexagonCodec
from cw.games.hexagon.rules import Hexagon, legal_moves
from cw.games.hexagon.state import State as Battle
from cw.games.hexagon.state import grid
from tests.kits.steps import Step, Vector, compact, expect, request, vector

OK = {"status": "ok"}
ERROR = {"status": "error"}


def post(name: str, state: Battle, color: int) -> Step:
    document = HexagonCodec(Hexagon()).state_to_json(state)
    board = {"size": state.size, "cells": document["cells"]}
    body = {"id": name, "first_turn": color == 1, "training": False}
    body |= {"jumps": document["jumps"], "board": board}
    return expect(request("POST", "/games", compact(body)), json=OK)


def get(name: str, state: Battle) -> Step:
    moves = [[list(move.move_from), list(move.move_to)] for move in legal_moves(state)]
    return expect(request("GET", f"/games/{name}?color={state.color}"), hexagon_moves=moves)


def put(name: str, state: Battle) -> Step:
    document = HexagonCodec(Hexagon()).state_to_json(state)
    changes = [list(change) for change in state.changes]
    body = {"jumps": document["jumps"], "changes": changes}
    return expect(request("PUT", f"/games/{name}", compact(body)), json=OK)


def delete(name: str) -> Step:
    return expect(request("DELETE", f"/games/{name}", "{}"), json=OK)


def battle(ids: tuple[str, str], state: Battle, seed: int, moves: int = 1000) -> list[Step]:
    """Play a battle of a bot against itself, with other moves than it may choose."""
    rng = Random(seed)
    steps = [post(ids[0], state, 1), post(ids[1], state, 2)]
    while state.color is not None and moves:
        moves -= 1
        color = state.color
        steps.append(get(ids[color - 1], state))
        state = Hexagon().step(state, {color: rng.choice(legal_moves(state))})
        steps += [put(ids[color - 1], state), put(ids[2 - color], state)]
    return [*steps, delete(ids[0]), delete(ids[1])]


def interleave(*games: list[Step]) -> list[Step]:
    steps = []
    for turn in range(max(map(len, games))):
        steps += [game[turn] for game in games if turn < len(game)]
    return steps


def hexagon() -> Iterator[Vector]:
    game = Hexagon()
    example = game.new(2, 0, cells=[[-1, 1, 2], [2, 0, 1], [-1, 1, 2]])
    smallest = [post("k3v9q0x2m7c1t5ha", example, 1), get("k3v9q0x2m7c1t5ha", example)]
    after = game.step(example, {1: legal_moves(example)[0]})
    yield vector(
        "the document's battle",
        [*smallest, put("k3v9q0x2m7c1t5ha", after), delete("k3v9q0x2m7c1t5ha")],
    )
    size3 = game.new(2, 5, size=3, stones=2)
    yield vector("a whole battle of size 3", battle(("wholea", "wholeb"), size3, 1))
    yield vector(
        "three battles at once",
        interleave(
            battle(("one0", "one1"), game.new(2, 1, size=4), 2, 8),
            battle(("two0", "two1"), game.new(2, 2), 3, 6),
            battle(("three0", "three1"), game.new(2, 3, size=2, stones=0), 4),
        ),
    )
    largest = game.new(2, 9, size=12)
    yield vector("a battle of size 12", battle(("large0", "large1"), largest, 5, 2))
    yield vector("every step of the grid", [step for steps in grid_steps() for step in steps])
    bare = game.new(2, 0, cells=[[-1, 1, 2], [0, 0, 0], [-1, 0, 0]])
    yield vector("without a jump", [post("nojump", bare, 1), get("nojump", bare), delete("nojump")])
    yield vector(
        "an id that is known begins anew",
        [post("again", size3, 1), get("again", size3), post("again", bare, 1), get("again", bare)],
    )
    stuck = [request("POST", "/games", compact(no_moves()))]
    yield vector(
        "what cannot be answered",
        [
            expect(request("GET", "/games/nobody?color=1"), 404, has=ERROR),
            expect(request("PUT", "/games/nobody", '{"jumps":{"1":1,"2":1},"changes":[]}'), 404),
            expect(request("DELETE", "/games/nobody", "{}"), json=OK),
            expect(request("GET", "/"), 404, has=ERROR),
            expect(request("GET", "/games"), 404, has=ERROR),
            expect(request("GET", "/games/a/b?color=1"), 404, has=ERROR),
            expect(request("POST", "/other", "{}"), 404, has=ERROR),
            expect(request("POST", "/games", "{"), 400, has=ERROR),
            expect(request("POST", "/games", "[]"), 400, has=ERROR),
            expect(request("POST", "/games", "{}"), 400, has=ERROR),
            expect(request("POST", "/games", '{"id":"x","board":{"cells":[[1]]}}'), 400, has=ERROR),
            expect(stuck[0], json=OK),
            expect(request("GET", "/games/stuck"), 400, has=ERROR),
            expect(request("GET", "/games/stuck?color=3"), 400, has=ERROR),
            expect(request("GET", "/games/stuck?color=1"), 409, has=ERROR),
            expect(request("PUT", "/games/stuck", "{}"), 400, has=ERROR),
            expect(request("PUT", "/games/stuck", "?"), 400, has=ERROR),
            expect(
                request("PUT", "/games/stuck", '{"jumps":{"1":1,"2":1},"changes":[[9,9,0,1]]}'),
                400,
                has=ERROR,
            ),
            delete("stuck"),
            expect(request("GET", "/games/stuck?color=1"), 404, has=ERROR),
        ],
    )


def grid_steps() -> Iterator[list[Step]]:
    """Return boards on which a single cell is free, at each place around an even and an odd row."""
    tables = grid(5)
    for start in ((4, 4), (3, 4)):
        for target in (*tables.near[start], *tables.far[start]):
            cells = [[-1] * 9 for _ in range(9)]
            for (i, j), value in ((start, 1), (target, 0), ((0, 2), 2)):
                cells[i][j] = value
            state = replace(Hexagon().new(2, 0, cells=cells), jumps=(1, 1), color=1, ended=None)
            name = f"grid{start[0]}{target[0]}{target[1]}"
            yield [post(name, state, 1), get(name, state), delete(name)]


def no_moves() -> dict[str, Any]:
    cells = [[-1, 1, 2], [1, 2, 1], [-1, 2, 2]]
    board = {"size": 2, "cells": cells}
    return {
        "id": "stuck",
        "first_turn": True,
        "training": True,
        "jumps": {"1": 1, "2": 1},
        "board": board,
    }
