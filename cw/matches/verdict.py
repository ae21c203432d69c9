"""Who won a match and by what, in a sentence."""

from __future__ import annotations

from typing import Final

from cw.games.codec import is_fault
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
        if fault.bot in never_played(result):
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
    """Return the numbers of the bots that could not be started, and have never acted.

    A web service that fails to tell its health may play all the same.
    """
    absent = {fault.bot: str(fault.player) for fault in result.faults if fault.kind == "startup"}
    return sorted(bot for bot, player in absent.items() if not has_acted(result, player))


def has_acted(result: MatchResult, player: str) -> bool:
    """Return whether a player, as the replay names it, has acted in any turn."""
    acted = (turn["actions"].get(player) for turn in result.replay["turns"])
    return any(action is not None and not is_fault(action) for action in acted)
