"""What pages offer of Code Battle."""

from __future__ import annotations

from typing import Final

from cw.games.offer import Choice, Offer

OFFER: Final = Offer(
    strategies=("strategist", "hunter"),
    most_players=4,
    choices=(Choice("max_turns", "Turns at most", (300, 100, 500)),),
)
