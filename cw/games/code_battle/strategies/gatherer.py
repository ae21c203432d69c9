"""The gatherer: energy first, and no fights."""

from __future__ import annotations

from cw.games.code_battle.strategies.commander import Commander
from cw.games.code_battle.strategies.plan import TurnPlan


class Gatherer(Commander):
    """Collects the energy that it can reach first, explores for more, and avoids all danger."""

    def command(self, plan: TurnPlan) -> None:
        """Gather, then explore."""
        plan.gather(plan.free)
        plan.explore(plan.free)
