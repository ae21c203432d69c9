"""Checks for Circuit Wars clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from cw.games.rules import Json, Player
from cw.games.wire import CheckReport, Referee, Transport, Trial

PLAYED: Final[Mapping[str, Json]] = {"size": 7, "openings": 0}
"""The assignment's board, on which clients are judged."""

ENOUGH: Final = 20
"""The number of turns after which a match reveals nothing new; clients wait 0.2 s per request."""

NOTE: Final = (
    "not needed on the usual 7 x 7 board; a bot for any board reads the size, and what is"
    " drawn at the start, from /status"
)

elsewhere = partial(Trial, seats=(0,), note=NOTE)


class CircuitWarsChecks:
    """Checks a client in matches only: it connects to the server and cannot be probed before."""

    trials: Sequence[Trial] = (
        Trial("plays a whole match as player 1", PLAYED, ("random",), seats=(0,), by_contest=True),
        Trial("plays as player 2", PLAYED, ("random",), seats=(-1,), turns=ENOUGH, by_contest=True),
        elsewhere("plays on the smallest board", {"size": 1}, ("random",)),
        elsewhere("plays against a bot that mirrors every move", {"size": 3}, ("mirror",)),
        elsewhere(
            "plays after random openings", {"size": 5, "openings": 10}, ("safe",), turns=ENOUGH
        ),
        elsewhere(
            "plays on a nearly full board", {"size": 7, "openings": 40}, ("greedy",), turns=ENOUGH
        ),
    )

    def steps(self, transport: Transport) -> int:
        """Return 0: nothing is probed."""
        return 0

    async def probe(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Do nothing."""
