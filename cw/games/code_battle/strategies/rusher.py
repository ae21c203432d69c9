"""The rusher: straight to the nearest enemy core."""

from __future__ import annotations

from cw.games.code_battle.strategies.commander import Commander
from cw.games.code_battle.strategies.paths import bits
from cw.games.code_battle.strategies.plan import TurnPlan


class Rusher(Commander):
    """Runs to the nearest known enemy core, whatever the danger."""

    def command(self, plan: TurnPlan) -> None:
        """Gather energy within three steps, then run; explore while no enemy core is known."""
        plan.gather(plan.free, within=3)
        cores = plan.known.cores_of(enemy=True)
        if not cores:
            plan.explore(plan.free, unseen=2.0)
            return
        field = plan.known.distance_field(bits(cores))
        steps = field.distances(bits(plan.free))
        for bot in sorted(steps, key=lambda bot: (steps[bot], bot)):
            plan.go(bot, field, lambda _: True)
