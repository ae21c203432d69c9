"""Wording of End of Codes results."""

from __future__ import annotations

from typing import Final

from cw.games.endings import Endings

ENDINGS: Final = Endings(
    turn="round",
    first=0,
    reasons={
        "last_standing": "no other player had creatures left",
        "all_dead": "the last creatures died together",
        "round_cap": "the last round was played, and several had creatures left",
        "no_players": "no player took part",
    },
)
