"""The resolution of a round (rule book, "A round"), vectorized over the columns of creatures.

Everything is judged by the previous round: attacks see who stood where (rule 3), so they are
resolved first and moves cannot dodge them. A creature that dies frees its cell, so hit points are
settled before collisions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cw.games.end_of_codes.state import (
    DIRECTIONS,
    Column,
    Expelled,
    Intent,
    PlayerState,
    State,
)
from cw.games.rules import Fault

NOBODY: Final = -1
"""The value of a cell without a living creature."""

CODES: Final = {
    (action, way): number
    for number, (action, way) in enumerate(product(("move", "attack"), DIRECTIONS))
}
"""The numbers of intents: 0 to 3 for moves and 4 to 7 for attacks, in the order of DIRECTIONS."""

RIGHT, UP = (np.array(steps) for steps in zip(*DIRECTIONS.values(), strict=True))
"""The change of x and of y, by the number of a direction."""


class CreatureActions(NamedTuple):
    """Creatures that all move, or all attack, and their target cells."""

    who: Column
    """Their indices in the columns of the state."""
    x: Column
    y: Column


NONE: Final = CreatureActions(*np.empty((3, 0), dtype=np.int64))


def resolve(state: State, intents: Sequence[Intent], faults: Mapping[int, Fault]) -> State:
    """Return the next round.

    `intents` are the valid ones of all players without a fault; `faults` maps the userids of the
    others to their faults. The order of either has no effect.
    """
    moves, attacks = moves_and_attacks(state, intents)
    hp = attack(state, attacks)
    if faults:
        hp[np.isin(state.owners, list(faults))] = 0
    x, y = move(state, moves, hp)
    alive = frozenset(state.owners[hp > 0].tolist())
    return replace(
        state,
        round=state.round + 1,
        players=tuple(updated_player(state, player, alive, faults) for player in state.players),
        x=x,
        y=y,
        hp=hp,
    )


def moves_and_attacks(
    state: State, intents: Sequence[Intent]
) -> tuple[CreatureActions, CreatureActions]:
    """Return the moves and the attacks with targets on the map; the others have no effect."""
    if not intents:
        return NONE, NONE
    ids = np.array([creature for creature, _, _ in intents], dtype=np.int64)
    codes = np.array([CODES[action, way] for _, action, way in intents], dtype=np.int64)
    # Ids stay sorted: creatures keep their row when they die.
    who = np.searchsorted(state.ids, ids)
    ways = codes % len(DIRECTIONS)
    x, y = state.x[who] + RIGHT[ways], state.y[who] + UP[ways]
    inside = (x >= 0) & (x < state.width) & (y >= 0) & (y < state.height)
    moving = codes < len(DIRECTIONS)
    moves, attacks = (
        CreatureActions(who[selection], x[selection], y[selection])
        for selection in (inside & moving, inside & ~moving)
    )
    return moves, attacks


def attack(state: State, attacks: CreatureActions) -> Column:
    """Return the hit points after all attacks (rule 3), at least 0."""
    if not len(attacks.who):
        return state.hp.copy()
    living = np.flatnonzero(state.hp > 0)
    # In every round a cell holds at most one living creature (rule 6), so one entry is enough.
    occupant = np.full(state.width * state.height, NOBODY)
    occupant[state.y[living] * state.width + state.x[living]] = living
    victims = occupant[attacks.y * state.width + attacks.x]
    hit = (victims != NOBODY) & (state.owners[victims] != state.owners[attacks.who])
    # Use `bincount`: `hp[victims] -= 1` would count several hits on one creature once.
    hits = np.bincount(victims[hit], minlength=len(state.hp))
    left: Column = np.maximum(state.hp - hits, 0)
    return left


def move(state: State, moves: CreatureActions, hp: Column) -> tuple[Column, Column]:
    """Return the x and y of all creatures after moves (rule 4) and undoing (rule 6).

    `hp` holds the hit points after the round. Creatures of players who are thrown out have no
    moves; others that die keep the cell that they have reached (rule 5).
    """
    if not len(moves.who):
        return state.x, state.y
    x, y = state.x.copy(), state.y.copy()
    x[moves.who], y[moves.who] = moves.x, moves.y
    send_back(state, moves, hp > 0, x, y)
    return x, y


def send_back(
    state: State, moves: CreatureActions, alive: NDArray[np.bool_], x: Column, y: Column
) -> None:
    """Send living movers back while a cell holds several living creatures (rule 6).

    Changes `x` and `y`. Each pass sends back all movers in crowded cells together, so the result
    does not depend on the order. A mover goes back at most once, so the loop terminates: a creature
    that stayed was alone in its cell before the round.
    """
    width = state.width
    counts = np.bincount((y * width + x)[alive], minlength=width * state.height)
    movers = moves.who[alive[moves.who]]
    while True:
        crowded = counts[y[movers] * width + x[movers]] > 1
        back = movers[crowded]
        if not len(back):
            return
        # `.at` accumulates repeated cells; plain indexing would not.
        np.subtract.at(counts, y[back] * width + x[back], 1)
        x[back], y[back] = state.x[back], state.y[back]
        np.add.at(counts, y[back] * width + x[back], 1)
        movers = movers[~crowded]


def updated_player(
    state: State, player: PlayerState, alive: frozenset[int], faults: Mapping[int, Fault]
) -> PlayerState:
    """Return a player with the round in which it died, and any new fault."""
    died, fault = player.died, faults.get(player.userid)
    if fault is None and (died is not None or player.userid in alive):
        return player
    if died is None and player.userid not in alive:
        died = state.round + 1
    if fault is not None:
        thrown = Expelled(fault.kind, fault.detail or None, state.round)
        return player._replace(died=died, fault=thrown)
    return player._replace(died=died)


def expelled(state: State, faults: Mapping[int, Fault]) -> State:
    """Return the start without the creatures of players whose bots failed `POST /game`.

    The creatures are dead from round 0, and their players are thrown out.
    """
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
