"""The checks of a client of Circuit Wars."""

from __future__ import annotations

from collections.abc import Sequence

from cw.games.checks import CheckReport, Trial
from cw.games.rules import Player
from cw.games.wire import Referee, Transport


class CircuitWarsChecks:
    """Whole games: a client comes to the server, so there is nothing to ask it before."""

    trials: Sequence[Trial] = (
        Trial("registers and plays a match against random", {"size": 5}, ("random",)),
        Trial("plays on the smallest board", {"size": 1}, ("random",)),
        Trial("plays after random openings", {"size": 5, "openings": 10}, ("safe",)),
        Trial("plays against one who mirrors every move", {"size": 3}, ("mirror",)),
        Trial("plays on the usual board", {"size": 7, "openings": 40}, ("greedy",)),
    )

    def steps(self, transport: Transport) -> int:
        """Return 0."""
        return 0

    async def probe(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Ask nothing."""
