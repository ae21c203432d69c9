"""The simple strategies: random, a gatherer, a swarm, and a rusher to the nearest enemy core."""

from __future__ import annotations

from random import Random
from typing import Final

from cw.games.code_battle.rules.state import DIRECTIONS, Tile
from cw.games.code_battle.rules.turn import View
from cw.games.code_battle.strategies.knowledge import bits
from cw.games.code_battle.strategies.plan import Commander, TurnPlan, advance, medoid
from cw.games.rules import Json, Player


class Gatherer(Commander):
    """Collects the energy that it can reach first, explores for more, and avoids all danger."""

    def command(self, plan: TurnPlan) -> None:
        """Gather, then explore."""
        plan.gather(plan.free)
        plan.explore(plan.free)


class RandomBot:
    """Each bot holds with probability 0.2, or moves in a random direction."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Initialize the strategy for a slot; `rng` makes all random choices."""
        self.rng = rng

    def act(self, view: View) -> list[Json]:
        """Return random orders for own bots."""
        cols = view.config.cols
        return [
            {"row": tile // cols, "col": tile % cols, "direction": self.rng.choice([*DIRECTIONS])}
            for tile, owner in view.bots
            if owner == 0 and self.rng.random() >= 0.2
        ]


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


ENOUGH: Final = 4
"""The minimum number of bots that move as a group."""


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
