"""How a round becomes the next one (rules 3 to 8), in whole columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cw.games.end_of_codes.state import DIRECTIONS, Column, Expelled, Intent, Participant, State
from cw.games.rules import Fault

NOBODY: Final = -1
CODES: Final = {
    (action, way): number
    for number, (action, way) in enumerate(product(("move", "attack"), DIRECTIONS))
}
"""A number for each intent: below 4 a move, from 4 on an attack, in the order of DIRECTIONS."""

RIGHT, UP = (np.array(steps) for steps in zip(*DIRECTIONS.values(), strict=True))


class Acts(NamedTuple):
    """The creatures that do one thing, by their place in the columns, and where they aim."""

    who: Column
    x: Column
    y: Column


def resolve(state: State, intents: Sequence[Intent], faults: Mapping[int, Fault]) -> State:
    """Return the next round; `intents` are those of players without a fault, all of them valid."""
    moves, attacks = sort_out(state, intents)
    hp = attack(state, attacks)
    hp[np.isin(state.owners, list(faults))] = 0
    x, y = move(state, moves, hp)
    alive = frozenset(state.owners[hp > 0].tolist())
    return replace(
        state,
        round=state.round + 1,
        players=tuple(mark(state, player, alive, faults) for player in state.players),
        x=x,
        y=y,
        hp=hp,
    )


def sort_out(state: State, intents: Sequence[Intent]) -> tuple[Acts, Acts]:
    """Return the moves and the attacks that stay on the map; the others are idle (rules 5, 6)."""
    ids = np.array([creature for creature, _, _ in intents], dtype=np.int64)
    codes = np.array([CODES[action, way] for _, action, way in intents], dtype=np.int64)
    who = np.searchsorted(state.ids, ids)
    ways = codes % len(DIRECTIONS)
    x, y = state.x[who] + RIGHT[ways], state.y[who] + UP[ways]
    inside = (x >= 0) & (x < state.width) & (y >= 0) & (y < state.height)
    moving = codes < len(DIRECTIONS)
    moves, attacks = (
        Acts(who[chosen], x[chosen], y[chosen]) for chosen in (inside & moving, inside & ~moving)
    )
    return moves, attacks


def attack(state: State, attacks: Acts) -> Column:
    """Return the hit points after all attacks of rule 5; never below 0 (rule 7)."""
    living = np.flatnonzero(state.hp > 0)
    holder = np.full(state.width * state.height, NOBODY)
    holder[state.y[living] * state.width + state.x[living]] = living
    victims = holder[attacks.y * state.width + attacks.x]
    foes = (victims != NOBODY) & (state.owners[victims] != state.owners[attacks.who])
    hits = np.bincount(victims[foes], minlength=len(state.hp))
    left: Column = np.maximum(state.hp - hits, 0)
    return left


def move(state: State, moves: Acts, hp: Column) -> tuple[Column, Column]:
    """Return all cells after the moves of rule 6 and the undoing of rule 8.

    Creatures of players who are thrown out have no moves; who dies otherwise keeps the cell
    that it reached.
    """
    x, y = state.x.copy(), state.y.copy()
    x[moves.who], y[moves.who] = moves.x, moves.y
    undo(state, moves, hp > 0, x, y)
    return x, y


def undo(state: State, moves: Acts, alive: NDArray[np.bool_], x: Column, y: Column) -> None:
    """Send living movers back while a cell holds more than one living creature (rule 8)."""
    width = state.width
    held = np.bincount((y * width + x)[alive], minlength=width * state.height)
    movers = moves.who[alive[moves.who]]
    while True:
        crowded = held[y[movers] * width + x[movers]] > 1
        back = movers[crowded]
        if not len(back):
            return
        np.subtract.at(held, y[back] * width + x[back], 1)
        x[back], y[back] = state.x[back], state.y[back]
        np.add.at(held, y[back] * width + x[back], 1)
        movers = movers[~crowded]


def mark(
    state: State, player: Participant, alive: frozenset[int], faults: Mapping[int, Fault]
) -> Participant:
    """Note when a player has died, and the first fault that threw it out."""
    died, fault = player.died, faults.get(player.userid)
    if died is None and player.userid not in alive:
        died = state.round + 1
    if fault is not None:
        thrown = Expelled(fault.kind, fault.detail or None, state.round)
        return player._replace(died=died, fault=thrown)
    return player._replace(died=died)


def expelled(state: State, faults: Mapping[int, Fault]) -> State:
    """Return round 0 in which players who failed to be told of the game are dead already."""
    hp = np.where(np.isin(state.owners, list(faults)), 0, state.hp)
    players = tuple(
        player._replace(
            died=state.round,
            fault=Expelled(faults[player.userid].kind, faults[player.userid].detail, state.round),
        )
        if player.userid in faults
        else player
        for player in state.players
    )
    return replace(state, players=players, hp=hp)
