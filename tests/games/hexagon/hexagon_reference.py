"""The rules of Hexagon written down plainly, by formulas over all pairs of cells."""

from __future__ import annotations

from cw.games.hexagon.state import State

Cell = tuple[int, int]


def apart(a: Cell, b: Cell) -> int:
    """The distance formula of the rules."""
    qa, qb = a[1] - (a[0] - a[0] % 2) // 2, b[1] - (b[0] - b[0] % 2) // 2
    dq, dr = qa - qb, a[0] - b[0]
    return max(abs(dq), abs(dr), abs(dq + dr))


def legal(state: State, color: int) -> set[tuple[Cell, Cell]]:
    """All legal moves of a colour."""
    side = range(2 * state.size - 1)
    cells = [(i, j) for i in side for j in side]
    most = 2 if state.jumps[color - 1] else 1
    return {
        (a, b)
        for a in cells
        if state.cells[a[0]][a[1]] == color
        for b in cells
        if state.cells[b[0]][b[1]] == 0 and 1 <= apart(a, b) <= most
    }


def play(state: State, move: tuple[Cell, Cell]) -> dict[str, object]:
    """The position after a legal move of the colour to move, as a dictionary."""
    color = state.color
    assert color is not None
    cells = [list(row) for row in state.cells]
    start, target = move
    jump = apart(start, target) == 2
    if jump:
        cells[start[0]][start[1]] = 0
    cells[target[0]][target[1]] = color
    for i, row in enumerate(cells):
        for j, value in enumerate(row):
            if value == 3 - color and apart((i, j), target) == 1:
                row[j] = color
    jumps, placed = list(state.jumps), list(state.placed)
    if jump:
        jumps[color - 1] -= 1
    else:
        placed[color - 1] += 1
        if placed[color - 1] % 2 == 0:
            jumps[color - 1] += 1
    return {"cells": cells, "jumps": jumps, "placed": placed}
