"""The hunter: two of its bots close in on enemies who are alone."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Final, NamedTuple

from cw.games.code_battle.commander import Commander
from cw.games.code_battle.formation import outnumbers
from cw.games.code_battle.plan import Plan
from cw.games.code_battle.torus import Tile
from cw.games.rules import Player

ALONE: Final = 4
"""Steps from the nearest friend from which on an enemy is prey."""

SECOND: Final = 12
"""Steps within which a second hunter must be."""

PATIENCE: Final = 3
"""Turns for which prey out of sight is remembered."""


class Prey(NamedTuple):
    """A lonely enemy: where it is thought to be, its last step, and how long it is unseen."""

    tile: Tile
    down: int
    right: int
    unseen: int


class Hunter(Commander):
    """Gathers, and hunts in pairs."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat."""
        super().__init__(player, rng)
        self.prey: list[Prey] = []

    def command(self, plan: Plan) -> None:
        """Hunt, then gather and explore."""
        self.prey = self.track(plan)
        for prey in self.prey:
            self.hunt(plan, prey)
        plan.gather(plan.free)
        plan.explore(plan.free)

    def track(self, plan: Plan) -> list[Prey]:
        """Return the lonely enemies in sight, then those remembered."""
        steps = plan.known.steps
        seen = [
            enemy
            for enemy in plan.enemies
            if all(steps(enemy, other) >= ALONE for other in plan.enemies if other != enemy)
        ]
        before = {prey.tile: prey for prey in self.prey}
        found = []
        for tile in seen:
            last = next((old for old in before if steps(old, tile) <= 2), None)
            found.append(Prey(tile, *self.step_between(plan, last, tile), unseen=0))
            before.pop(tile if last is None else last, None)
        lost = [self.moved_on(plan, prey) for prey in before.values() if prey.unseen < PATIENCE]
        return [*found, *lost]

    def step_between(self, plan: Plan, last: Tile | None, now: Tile) -> tuple[int, int]:
        """Return the step from one tile to the next; none where that is not known."""
        cols = plan.torus.cols
        if last is None or plan.known.steps(last, now) != 1:
            return 0, 0
        return now // cols - last // cols, now % cols - last % cols

    def moved_on(self, plan: Plan, prey: Prey) -> Prey:
        """Let prey out of sight repeat its last step."""
        rows, cols = plan.torus.rows, plan.torus.cols
        row, col = divmod(prey.tile, cols)
        tile = (row + prey.down) % rows * cols + (col + prey.right) % cols
        return prey._replace(tile=tile, unseen=prey.unseen + 1)

    def hunt(self, plan: Plan, prey: Prey) -> None:
        """Let the two nearest bots close in; the first waits outside danger for the second."""
        steps = plan.known.steps
        nearest = sorted(plan.free, key=lambda bot: (steps(bot, prey.tile), bot))[:2]
        if len(nearest) < 2 or steps(nearest[1], prey.tile) > SECOND:
            return
        field = plan.known.field(1 << prey.tile)
        together = steps(*nearest) <= 2
        for bot in nearest:
            if together:
                plan.go(bot, field, partial(outnumbers, plan, bot))
            else:
                plan.go(bot, field)
