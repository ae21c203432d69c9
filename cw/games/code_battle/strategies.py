"""The built-in strategies of Code Battle (document, "Built-in strategies")."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from cw.games.code_battle.commander import Commander
from cw.games.code_battle.guardian import Guardian
from cw.games.code_battle.hunter import Hunter
from cw.games.code_battle.paths import bits
from cw.games.code_battle.plan import Plan
from cw.games.code_battle.strategist import Strategist
from cw.games.code_battle.swarm import Swarm
from cw.games.code_battle.torus import DIRECTIONS
from cw.games.code_battle.vision import View
from cw.games.rules import Json, Player, StrategyFactory


class RandomBot:
    """Each bot holds, one time in five, or goes any way: it looks at nothing."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat."""
        self.rng = rng

    def act(self, view: View) -> list[Json]:
        """Draw for each own bot."""
        cols = view.config.cols
        return [
            {"row": tile // cols, "col": tile % cols, "direction": self.rng.choice([*DIRECTIONS])}
            for tile, owner in view.bots
            if owner == 0 and self.rng.random() >= 0.2
        ]


class Gatherer(Commander):
    """Collects what it can reach first, and looks for more; keeps out of all danger."""

    def command(self, plan: Plan) -> None:
        """Gather, then explore."""
        plan.gather(plan.free)
        plan.explore(plan.free)


class Rusher(Commander):
    """Runs to the nearest enemy core that it knows, whatever it costs."""

    def command(self, plan: Plan) -> None:
        """Take energy that lies at hand, then run."""
        plan.gather(plan.free, within=3)
        cores = plan.known.cores_of(enemy=True)
        if not cores:
            plan.explore(plan.free, unseen=2.0)
            return
        field = plan.known.field(bits(cores))
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
"""By name; the simplest first, the strongest last."""
