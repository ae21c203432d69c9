"""The guardian: a ring of guards around each core, and gathering close to home."""

from __future__ import annotations

from functools import partial
from typing import Final

from cw.games.code_battle.rules.torus import Tile
from cw.games.code_battle.strategies.commander import Commander
from cw.games.code_battle.strategies.formation import outnumbers
from cw.games.code_battle.strategies.paths import bits
from cw.games.code_battle.strategies.plan import TurnPlan

GUARDS: Final = 4
"""The number of guards per core."""

RING_STEPS: Final = range(2, 6)
"""The distances in steps from the core at which guards stand."""

HOME: Final = 10
"""The maximum distance in steps from a core at which energy is gathered."""

ALARM: Final = 12
"""The distance in steps from a core within which enemies are confronted."""

TOGETHER: Final = 3
"""The maximum distance in steps between guards that attack together."""

RESERVE: Final = 6
"""The energy to keep. Spawning is automatic, so a bot must stand on the core to save energy."""


class Guardian(Commander):
    """Guards its cores, and attacks with two or more bots together."""

    def command(self, plan: TurnPlan) -> None:
        """Answer raids, gather near home, scout, and fill the rings with the remaining bots."""
        cores = plan.known.cores_of(enemy=False)
        if not cores:
            plan.gather(plan.free)
            plan.explore(plan.free)
            return
        for core in cores:
            self.answer(plan, core)
        close = [tile for tile in plan.known.energy if self.from_home(plan, cores, tile) <= HOME]
        self.scout(plan, cores, alone=not close)
        plan.gather(plan.free, energy=close)
        for core in cores:
            self.keep_ring(plan, core)
        plan.explore(plan.free)

    def from_home(self, plan: TurnPlan, cores: list[Tile], tile: Tile) -> int:
        """Return the steps from a tile to the nearest of the cores."""
        return min(plan.known.steps(core, tile) for core in cores)

    def answer(self, plan: TurnPlan, core: Tile) -> None:
        """Send the guards of a core against enemies near it; those without company return."""
        raiders = plan.near(core, plan.enemies, ALARM)
        if not raiders:
            return
        strike = plan.known.distance_field(bits(raiders))
        back = plan.known.distance_field(1 << core)
        guards = sorted(plan.free, key=lambda bot: (plan.known.steps(core, bot), bot))
        for bot in guards[: max(GUARDS, len(raiders) + 1)]:
            company = len(plan.near(bot, plan.own, TOGETHER)) - 1
            if company:
                plan.go(bot, strike, partial(outnumbers, plan, bot))
            else:
                plan.go(bot, back)

    def scout(self, plan: TurnPlan, cores: list[Tile], *, alone: bool) -> None:
        """Send the bots farthest from home to explore.

        None below four bots, one from four, two from twelve; at least one if `alone`, without
        energy near home.
        """
        number = 2 if len(plan.own) >= 12 else int(len(plan.own) >= 4 or alone)
        farthest = sorted(plan.free, key=lambda bot: (-self.from_home(plan, cores, bot), bot))
        scouts = farthest[:number]
        plan.gather(scouts, within=HOME)
        plan.explore(scouts)

    def keep_ring(self, plan: TurnPlan, core: Tile) -> None:
        """Send guards to the ring around a core.

        If the ring is full and the reserve is not, one guard stands on the core to save energy.
        """
        steps = plan.known.steps
        guards = sorted(plan.free, key=lambda bot: (steps(core, bot), bot))[:GUARDS]
        full = len(guards) == GUARDS and all(steps(core, bot) <= RING_STEPS[-1] for bot in guards)
        saving = plan.view.energy < RESERVE + plan.view.config.spawn_cost
        if full and saving:
            plan.go(guards.pop(0), plan.known.distance_field(1 << core))
        ring = [
            tile
            for tile in plan.torus.discs(RING_STEPS[-1] ** 2)[core]
            if steps(core, tile) in RING_STEPS
        ]
        for bot in guards:
            places = bits(tile for tile in ring if plan.is_open(tile) or tile == bot)
            plan.go(bot, plan.known.distance_field(places & ~plan.known.walls))
