"""How results of a game are told and counted: why a match was over, what breaks a tie."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from cw.games.rules import FAULT_KINDS, Json, Player

FORFEITS: Final = frozenset({*FAULT_KINDS, "fault", "not_enough_ready"})
"""Reasons of an end that a fault has brought."""

RESIGNATIONS: Final = frozenset({"resigned", "resignation"})
"""Reasons of an end by a player who has given up."""

Figures: TypeAlias = Mapping[str, Mapping[Player, float]]
"""What is compared where scores are equal, the first one first: by its name, of each player."""


Scores: TypeAlias = tuple[float, ...]
"""Points by seat."""

Forfeit: TypeAlias = Callable[[Scores, Collection[int], Mapping[str, Json]], Scores]
"""Returns what tables count of a match that some seats have forfeited.

It is given the scores of the game, the numbers of those seats from 0, and the options of the match.
"""


def nothing_for_losers(scores: Scores, losers: Collection[int], _: Mapping[str, Json]) -> Scores:
    """Return 0 for those who have forfeited, and their own score for the others.

    >>> nothing_for_losers((12, 9), {0}, {})
    (0, 9)
    """
    return tuple(0 if seat in losers else score for seat, score in enumerate(scores))


def as_clause(reason: str) -> str:
    """Return the words of a reason as they follow "won in turn 9": ` by ...`, or `: ...`.

    >>> "ann won in turn 9" + as_clause("by domination: at least 80 % of all bots")
    'ann won in turn 9 by domination: at least 80 % of all bots'
    """
    return f" {reason}" if reason.startswith("by ") else f": {reason}"


def no_figures(_: Any) -> Figures:
    """Return nothing: where scores are equal, so are the players."""
    return {}


@dataclass(frozen=True, slots=True)
class Endings:
    """The words for the results of a game.

    >>> Endings(unit="chip", reasons={"capture": "by capture of the last chip"}).turn
    'turn'
    """

    unit: str = ""
    """What scores count, in the singular: `square`; "" for points without a name."""
    turn: str = "turn"
    """What the game calls a turn."""
    first: int = 1
    """The number of the first turn in sentences and commands: that which bots are sent, if any."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why the match was over, by reason, for ends that no score decides; see `as_clause`."""
    tie_breaks: Callable[[Any], Figures] = no_figures
    """Returns the figures of the last state."""
    recorded: Mapping[str, str] = field(default_factory=dict)
    """By member of the outcome in a replay the name of the figure that it holds, in that order."""

    forfeit: Forfeit = nothing_for_losers
    """What a forfeit scores in the tables of a championship, whose criteria are sums of scores."""

    def turn_after(self, played: int) -> str:
        """Return how sentences name the turn before which so many were played.

        >>> Endings().turn_after(1)
        'turn 2'
        >>> Endings(turn="round", first=0).turn_after(1)
        'round 1'
        """
        return f"{self.turn} {played + self.first}"
