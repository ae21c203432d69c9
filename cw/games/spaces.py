"""Arrays of a game's views and actions, for reinforcement learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cw.games.rules import Action, Json, Player, State, View

Planes: TypeAlias = NDArray[np.int16]
"""Rows x columns x planes; each plane holds one property of every square."""

Mask: TypeAlias = NDArray[np.int8]
"""The numbers of an action x their values: 1 if allowed, 0 if not."""


def own_options(_players: int, options: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the options unchanged: they alone determine the size of the board."""
    return options


@dataclass(frozen=True, slots=True)
class Spaces(Generic[State, Action, View]):
    """The array form of a game.

    An action is `choices` whole numbers, each from 0 to one less than the number of values.
    Everything except the sizes is derived from a player's view, so nothing hidden can leak.
    """

    planes: Sequence[str]
    """A short description of each plane of a view."""
    board: Callable[[State], tuple[int, int]]
    """Returns the rows and columns of all views of a game, given its start state."""
    choices: Callable[[State], tuple[int, int]]
    """Returns how many numbers an action has, and how many values each, given the start state."""
    write_view: Callable[[View, Player], Planes]
    mask: Callable[[View, Player], Mask]
    """Returns the allowed values; a number without a choice allows nothing or only 0."""
    read_action: Callable[[View, Player, Sequence[int]], Action]
    settled: Callable[[int, Mapping[str, Json]], Mapping[str, Json]] = own_options
    """Takes players and options; returns options that fix all the board's size depends on."""


def empty_planes(rows: int, columns: int, planes: Sequence[str]) -> Planes:
    """Return planes of zeros."""
    return np.zeros((rows, columns, len(planes)), np.int16)
