"""The built-in strategies of Code Battle (docs/strategies.md)."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from cw.games.code_battle.commander import Commander
from cw.games.code_battle.guardian import Guardian
from cw.games.code_battle.hunter import Hunter
from cw.games.code_battle.paths import bits
from cw.games.code_battle.plan import TurnPlan
from cw.games.code_battle.strategist import Strategist
from cw.games.code_battle.swarm import Swarm
from cw.games.code_battle.torus import DIRECTIONS
from cw.games.code_battle.vision import View
from cw.games.rules import Json, Player, StrategyFactory


class RandomBot:
    """Each bot holds with probability 0.2, or moves in a random direction."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat; all draws come from `rng`."""
        self.rng = rng

    def act(self, view: View) -> list[Json]:
        """Return random orders for the own bots."""
        cols = view.config.cols
        return [
            {"row": tile // cols, "col": tile % cols, "direction": self.rng.choice([*DIRECTIONS])}
            for tile, owner in view.bots
            if owner == 0 and self.rng.random() >= 0.2
        ]


class Gatherer(Commander):
    """Collects the energy that it can reach first, explores for more, and avoids all danger."""

    def command(self, plan: TurnPlan) -> None:
        """Gather, then explore."""
        plan.gather(plan.free)
        plan.explore(plan.free)


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


STRATEGIES: Final[Mapping[str, StrategyFactory[View, list[Json]]]] = {
    "random": RandomBot,
    "gatherer": Gatherer,
    "rusher": Rusher,
    "guardian": Guardian,
    "swarm": Swarm,
    "hunter": Hunter,
    "strategist": Strategist,
}
"""By name, the simplest strategy first and the strongest last."""
