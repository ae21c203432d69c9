"""The swarm: all bots move as one group."""

from __future__ import annotations

from typing import Final

from cw.games.code_battle.rules.torus import Tile
from cw.games.code_battle.strategies.commander import Commander
from cw.games.code_battle.strategies.formation import advance, medoid
from cw.games.code_battle.strategies.paths import bits
from cw.games.code_battle.strategies.plan import TurnPlan

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

        It is the nearest enemy; failing that, an enemy core, then energy, then a tile long out of
        sight.
        """
        knowledge, centre = plan.known, medoid(plan, plan.own)
        for places in (plan.enemies, knowledge.cores_of(enemy=True), sorted(knowledge.energy)):
            if places:
                return [min(places, key=lambda tile: knowledge.steps(centre, tile))]
        unseen = [goal for goal in knowledge.seen if not knowledge.walls >> goal & 1]
        worth = {
            goal: min(plan.view.turn - knowledge.seen[goal], 80)
            - 1.5 * knowledge.steps(centre, goal)
            for goal in unseen
        }
        return [max(worth, key=lambda goal: (worth[goal], -goal))]
