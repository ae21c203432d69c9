"""How views and actions of a game become arrays, for reinforcement learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cw.games.rules import Action, Json, Player, State, View

Planes: TypeAlias = NDArray[np.int16]
"""Rows x columns x planes; each plane tells one thing of every square."""

Mask: TypeAlias = NDArray[np.int8]
"""Numbers x values of an action: 1 for what is allowed, 0 for what is not."""


def own_options(_players: int, options: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the options: the size of the board follows from them alone."""
    return options


@dataclass(frozen=True, slots=True)
class Spaces(Generic[State, Action, View]):
    """The arrays of a game.

    An action is as many whole numbers as `choices` says, each from 0 to one less than the number of
    values. All but the sizes is told by what a player sees, so that nothing else can show in it.
    """

    planes: Sequence[str]
    """What each plane of a view tells, in a few words."""
    board: Callable[[State], tuple[int, int]]
    """Returns the rows and the columns of all views of a game, by its start."""
    choices: Callable[[State], tuple[int, int]]
    """Returns of how many numbers an action is, and how many values each has, by the start."""
    write_view: Callable[[View, Player], Planes]
    mask: Callable[[View, Player], Mask]
    """Returns what the player may choose; of a number that has no choice, nothing or only 0."""
    read_action: Callable[[View, Player, Sequence[int]], Action]
    settled: Callable[[int, Mapping[str, Json]], Mapping[str, Json]] = own_options
    """Returns the options, by players and options, with what else fixes the size of the board."""


def empty_planes(rows: int, columns: int, planes: Sequence[str]) -> Planes:
    """Return planes of zeros."""
    return np.zeros((rows, columns, len(planes)), np.int16)
