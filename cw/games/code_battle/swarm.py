"""The swarm: all bots move as one group."""

from __future__ import annotations

from typing import Final

from cw.games.code_battle.commander import Commander
from cw.games.code_battle.formation import advance, medoid
from cw.games.code_battle.paths import bits
from cw.games.code_battle.plan import TurnPlan
from cw.games.code_battle.torus import Tile

ENOUGH: Final = 4
"""The number of bots from which they move as a group."""


class Swarm(Commander):
    """Gathers with fewer than four bots; with more it advances in one group."""

    def command(self, plan: TurnPlan) -> None:
        """Gather and explore, or advance."""
        if len(plan.own) < ENOUGH:
            plan.gather(plan.free)
            plan.explore(plan.free)
            return
        goals = self.goals(plan)
        advance(plan, set(plan.free), plan.known.distance_field(bits(goals)))

    def goals(self, plan: TurnPlan) -> list[Tile]:
        """Return the goal of the group, as a list of one tile.

        It is the nearest enemy, else enemy core, else energy, else a tile long out of sight.
        """
        known, centre = plan.known, medoid(plan, plan.own)
        for places in (plan.enemies, known.cores_of(enemy=True), sorted(known.energy)):
            if places:
                return [min(places, key=lambda tile: known.steps(centre, tile))]
        unseen = [goal for goal in known.seen if not known.walls >> goal & 1]
        worth = {
            goal: min(plan.view.turn - known.seen[goal], 80) - 1.5 * known.steps(centre, goal)
            for goal in unseen
        }
        return [max(worth, key=lambda goal: (worth[goal], -goal))]
