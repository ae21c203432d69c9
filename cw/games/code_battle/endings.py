"""Wording of Code Battle results (rule book, "End")."""

from __future__ import annotations

from typing import Final

from cw.games.code_battle.rules import ranking_key
from cw.games.code_battle.rules.state import State
from cw.games.code_battle.rules.turn import DOMINANT_TURNS
from cw.games.endings import Endings, Figures


def tie_breaks(state: State) -> Figures:
    """Return the tie-breaks that follow the score."""
    keys = {slot: ranking_key(state, slot) for slot in range(len(state.stats))}
    return {
        "collected energy": {slot: energy for slot, (_, energy, _) in keys.items()},
        "living bots": {slot: bots for slot, (_, _, bots) in keys.items()},
    }


ENDINGS: Final = Endings(
    reasons={
        "sole_survivor": "no other player had bots left",
        "dominance": f"by domination: at least 80 % of all bots for {DOMINANT_TURNS} turns",
        "annihilation": "the last bots died together",
    },
    tie_breaks=tie_breaks,
    recorded={"final_energy": "collected energy", "final_bots": "living bots"},
)
