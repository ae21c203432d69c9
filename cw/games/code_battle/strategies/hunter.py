"""The hunter: pairs of bots attack isolated enemies."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Final, NamedTuple

import numpy as np

from cw.games.code_battle.rules.torus import Tile
from cw.games.code_battle.strategies.commander import Commander
from cw.games.code_battle.strategies.formation import outnumbers
from cw.games.code_battle.strategies.plan import TurnPlan
from cw.games.rules import Player

ISOLATION: Final = 4
"""The distance in steps to its nearest friend from which an enemy counts as isolated."""

SECOND: Final = 12
"""The maximum distance in steps from a target for the second bot of a pair."""

PATIENCE: Final = 3
"""The turns for which a target out of sight is remembered."""


class Target(NamedTuple):
    """An isolated enemy."""

    tile: Tile
    """Its position, or where it is expected to be."""
    down: int
    """The change of row in its last step."""
    right: int
    """The change of column in its last step."""
    unseen: int
    """The turns since it was last seen."""


class Hunter(Commander):
    """Attacks isolated enemies in pairs; the other bots gather and explore."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat, with no targets yet."""
        super().__init__(player, rng)
        self.targets: list[Target] = []

    def command(self, plan: TurnPlan) -> None:
        """Attack the targets, then gather and explore."""
        self.targets = self.track(plan)
        for target in self.targets:
            self.hunt(plan, target)
        plan.gather(plan.free)
        plan.explore(plan.free)

    def track(self, plan: TurnPlan) -> list[Target]:
        """Return the isolated enemies in sight, then the remembered ones."""
        steps = plan.known.steps
        enemies = np.array(plan.enemies, dtype=np.int64)
        seen = [
            enemy
            for enemy in plan.enemies
            # An enemy is always near itself.
            if (steps.to_all(enemy, enemies) < ISOLATION).sum() == 1
        ]
        before = {target.tile: target for target in self.targets}
        targets = []
        for tile in seen:
            last = next((old for old in before if steps(old, tile) <= 2), None)
            targets.append(Target(tile, *self.step_between(plan, last, tile), unseen=0))
            before.pop(tile if last is None else last, None)
        remembered = [
            self.moved_on(plan, target) for target in before.values() if target.unseen < PATIENCE
        ]
        return [*targets, *remembered]

    def step_between(self, plan: TurnPlan, last: Tile | None, now: Tile) -> tuple[int, int]:
        """Return the change of row and column of a step; (0, 0) if unknown or not a single step."""
        cols = plan.torus.cols
        if last is None or plan.known.steps(last, now) != 1:
            return 0, 0
        return now // cols - last // cols, now % cols - last % cols

    def moved_on(self, plan: TurnPlan, target: Target) -> Target:
        """Return a target out of sight, assuming that it repeated its last step."""
        rows, cols = plan.torus.rows, plan.torus.cols
        row, col = divmod(target.tile, cols)
        tile = (row + target.down) % rows * cols + (col + target.right) % cols
        return target._replace(tile=tile, unseen=target.unseen + 1)

    def hunt(self, plan: TurnPlan, target: Target) -> None:
        """Send the two nearest bots to a target; they enter danger only together."""
        steps = plan.known.steps
        nearest = sorted(plan.free, key=lambda bot: (steps(bot, target.tile), bot))[:2]
        if len(nearest) < 2 or steps(nearest[1], target.tile) > SECOND:
            return
        field = plan.known.distance_field(1 << target.tile)
        together = steps(*nearest) <= 2
        for bot in nearest:
            if together:
                plan.go(bot, field, partial(outnumbers, plan, bot))
            else:
                plan.go(bot, field)
