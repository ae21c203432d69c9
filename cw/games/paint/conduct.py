"""How a match of Paint ends without a turn (rule book, "On the wire")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cw.games.codec import Conduct
from cw.games.paint.state import State
from cw.games.rules import Outcome, Player

LEAST_READY: Final = 2


def not_enough(state: State, ready: Sequence[Player]) -> Outcome | None:
    """Return the outcome of a match with fewer than two ready bots, otherwise None."""
    if len(ready) >= LEAST_READY:
        return None
    first = len(ready) or len(state.players)
    return Outcome(
        "not_enough_ready",
        ready[0] if ready else None,
        {player: state.score(seat) for seat, player in enumerate(state.players)},
        {p: 1 if p in ready or not ready else 1 + first for p in state.players},
    )


CONDUCT: Final = Conduct(unready=not_enough)
