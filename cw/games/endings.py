"""How a game tells of its ends: what it counts, why a match was over, what breaks a tie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from cw.games.rules import FAULT_KINDS, Player

FORFEITS: Final = frozenset({*FAULT_KINDS, "fault", "not_enough_ready"})
"""Reasons of an end that a fault has brought."""

RESIGNATIONS: Final = frozenset({"resigned", "resignation"})
"""Reasons of an end by a player who has given up."""

Figures: TypeAlias = Mapping[str, Mapping[Player, float]]
"""What is compared where scores are equal, the first one first: by its name, of each player."""


def no_figures(_: Any) -> Figures:
    """Return nothing: where scores are equal, so are the players."""
    return {}


@dataclass(frozen=True, slots=True)
class Endings:
    """The words in which results of a game are told."""

    unit: str = ""
    """What scores count, in the singular: `square`; "" for points without a name."""
    turn: str = "turn"
    """What the game calls a turn."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """By reason why the match was over, for ends that no score decides."""
    tie_breaks: Callable[[Any], Figures] = no_figures
    """Returns the figures of the last state."""
    recorded: Mapping[str, str] = field(default_factory=dict)
    """By member of the outcome in a replay the name of the figure that it holds, in that order."""
