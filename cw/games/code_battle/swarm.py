"""The swarm: everybody together, or not at all."""

from __future__ import annotations

from cw.games.code_battle.commander import Commander
from cw.games.code_battle.formation import advance, centre_of
from cw.games.code_battle.paths import bits
from cw.games.code_battle.plan import Plan
from cw.games.code_battle.torus import Tile

ENOUGH = 4
"""Bots from which on they move as a swarm."""


class Swarm(Commander):
    """Gathers below four bots; then advances in one group."""

    def command(self, plan: Plan) -> None:
        """Gather, or advance."""
        if len(plan.own) < ENOUGH:
            plan.gather(plan.free)
            plan.explore(plan.free)
            return
        goals = self.goals(plan)
        advance(plan, set(plan.free), plan.known.field(bits(goals)))

    def goals(self, plan: Plan) -> list[Tile]:
        """Return the nearest enemy, else enemy cores, energy, or land that nobody has seen."""
        known, centre = plan.known, centre_of(plan, plan.own)
        for places in (plan.enemies, known.cores_of(enemy=True), sorted(known.energy)):
            if places:
                return [min(places, key=lambda tile: known.steps(centre, tile))]
        unseen = [goal for goal in known.seen if not known.walls >> goal & 1]
        worth = {
            goal: min(plan.view.turn - known.seen[goal], 80) - 1.5 * known.steps(centre, goal)
            for goal in unseen
        }
        return [max(worth, key=lambda goal: (worth[goal], -goal))]
