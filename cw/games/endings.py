"""How the results of a game are worded and scored: reasons for an end, tie-breaks and forfeits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from cw.games.rules import FAULT_KINDS, Json, Player

FORFEITS: Final = frozenset({*FAULT_KINDS, "fault", "not_enough_ready"})
"""Reasons for an end caused by a fault."""

RESIGNATIONS: Final = frozenset({"resigned", "resignation"})
"""Reasons for an end by resignation."""

Figures: TypeAlias = Mapping[str, Mapping[Player, float]]
"""Tie-breaks in order of importance: name -> value of each player."""


Scores: TypeAlias = tuple[float, ...]
"""Points by seat."""

Forfeit: TypeAlias = Callable[[Scores, Collection[int], Mapping[str, Json]], Scores]
"""Returns the scores that tables count for a match forfeited by some seats.

Takes the scores of the game, the forfeiting seats' numbers from 0, and the options of the match.
"""


def nothing_for_losers(scores: Scores, losers: Collection[int], _: Mapping[str, Json]) -> Scores:
    """Return 0 for seats that have forfeited, and their own score for the others.

    >>> nothing_for_losers((12, 9), {0}, {})
    (0, 9)
    """
    return tuple(0 if seat in losers else score for seat, score in enumerate(scores))


def as_clause(reason: str) -> str:
    """Return a reason as a clause that follows "won in turn 9": ` by ...`, or `: ...`.

    >>> "ann won in turn 9" + as_clause("by domination: at least 80 % of all bots")
    'ann won in turn 9 by domination: at least 80 % of all bots'
    """
    return f" {reason}" if reason.startswith("by ") else f": {reason}"


def no_figures(_: Any) -> Figures:
    """Return no tie-breaks: players with equal scores are tied."""
    return {}


@dataclass(frozen=True, slots=True)
class Endings:
    """The wording of a game's results.

    >>> Endings(unit="chip", reasons={"capture": "by capture of the last chip"}).turn
    'turn'
    """

    unit: str = ""
    """The unit of scores, in the singular: `square`; "" for points without a name."""
    turn: str = "turn"
    """The game's word for a turn."""
    first: int = 1
    """The number of the first turn in messages and commands: the one sent to bots, if any."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Wording by reason, for ends that are not decided by score; see `as_clause`."""
    tie_breaks: Callable[[Any], Figures] = no_figures
    """Returns the tie-break values of the last state."""
    recorded: Mapping[str, str] = field(default_factory=dict)
    """Member of a replay's outcome -> the name of the tie-break that it holds, in that order."""

    forfeit: Forfeit = nothing_for_losers
    """The scores after a forfeit in a championship's tables, whose criteria are sums of scores."""

    def turn_after(self, played: int) -> str:
        """Return the name of the turn that follows `played` turns, for sentences.

        >>> Endings().turn_after(1)
        'turn 2'
        >>> Endings(turn="round", first=0).turn_after(1)
        'round 1'
        """
        return f"{self.turn} {played + self.first}"
