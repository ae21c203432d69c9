"""Who won a match and by what, in a sentence."""

from __future__ import annotations

from typing import Final

from cw.games.rules import FAULT_KINDS
from cw.matches.spec import MatchFault, MatchResult, MatchSpec

FORFEITS: Final = frozenset({*FAULT_KINDS, "fault", "not_enough_ready"})
"""Reasons that a game gives to an end which a fault has brought."""


def verdict(spec: MatchSpec, result: MatchResult) -> str:
    """Return a sentence: who won, and by what; a forfeit says whose fault and in which turn."""
    if result.winner is None:
        return "Draw: nobody stands alone at the top."
    name = spec.bots[result.winner].name
    fault = forfeit(result)
    if fault is not None:
        loser = spec.bots[fault.bot].name
        if fault.kind == "startup":
            return f"{name} won by forfeit: {loser} never played."
        return f"{name} won by forfeit: {loser} was {fault.kind} in turn {fault.turn + 1}."
    scores = [score for score in result.scores if score is not None]
    won = result.scores[result.winner]
    if won is not None and scores.count(won) == 1 and won == max(scores):
        others = sorted((score for score in scores if score != won), reverse=True)
        return f"{name} won by score, {won:g} to {', '.join(f'{score:g}' for score in others)}."
    return f"{name} won by {result.reason.replace('_', ' ')}, not by score."


def forfeit(result: MatchResult) -> MatchFault | None:
    """Return the fault that gave the match to another bot, None if it was played out."""
    lost = [fault for fault in result.faults if fault.bot != result.winner]
    if result.reason not in FORFEITS or not lost:
        return None
    return lost[0] if lost[0].kind == "startup" else lost[-1]


def never_played(result: MatchResult) -> list[int]:
    """Return the numbers of the bots that could not be started."""
    return sorted({fault.bot for fault in result.faults if fault.kind == "startup"})
