"""The guardian: a ring of guards round each core, and an economy close to home."""

from __future__ import annotations

from functools import partial
from typing import Final

from cw.games.code_battle.commander import Commander
from cw.games.code_battle.formation import outnumbers
from cw.games.code_battle.paths import bits
from cw.games.code_battle.plan import Plan
from cw.games.code_battle.torus import Tile

GUARDS: Final = 4
"""Guards of one core."""

RING: Final = range(2, 6)
"""Steps from the core at which guards stand."""

HOME: Final = 10
"""Steps from a core within which energy is gathered."""

ALARM: Final = 12
"""Steps from a core within which enemies call the guards together."""

TOGETHER: Final = 3
"""Steps between guards that strike together."""

RESERVE: Final = 6
"""Energy to be kept; spawning is automatic, so only a bot on the core saves it."""


class Guardian(Commander):
    """Guards its cores, and strikes only two or more together."""

    def command(self, plan: Plan) -> None:
        """Answer raids, gather near home, scout, and fill the rings with who is left."""
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

    def from_home(self, plan: Plan, cores: list[Tile], tile: Tile) -> int:
        """Count the steps from the nearest core."""
        return min(plan.known.steps(core, tile) for core in cores)

    def answer(self, plan: Plan, core: Tile) -> None:
        """Send the guards of a core against enemies near it, together or not at all."""
        raiders = plan.near(core, plan.enemies, ALARM)
        if not raiders:
            return
        strike, back = plan.known.field(bits(raiders)), plan.known.field(1 << core)
        guards = sorted(plan.free, key=lambda bot: (plan.known.steps(core, bot), bot))
        for bot in guards[: max(GUARDS, len(raiders) + 1)]:
            company = len(plan.near(bot, plan.own, TOGETHER)) - 1
            if company:
                plan.go(bot, strike, partial(outnumbers, plan, bot))
            else:
                plan.go(bot, back)

    def scout(self, plan: Plan, cores: list[Tile], *, alone: bool) -> None:
        """Send out scouts: one from four bots on, two from twelve, one at once without energy."""
        number = 2 if len(plan.own) >= 12 else int(len(plan.own) >= 4 or alone)
        farthest = sorted(plan.free, key=lambda bot: (-self.from_home(plan, cores, bot), bot))
        scouts = farthest[:number]
        plan.gather(scouts, within=HOME)
        plan.explore(scouts)

    def keep_ring(self, plan: Plan, core: Tile) -> None:
        """Keep guards on the ring; with a full ring one of them saves energy on the core."""
        steps = plan.known.steps
        guards = sorted(plan.free, key=lambda bot: (steps(core, bot), bot))[:GUARDS]
        full = len(guards) == GUARDS and all(steps(core, bot) <= RING[-1] for bot in guards)
        saving = plan.view.energy < RESERVE + plan.view.config.spawn_cost
        if full and saving:
            plan.go(guards.pop(0), plan.known.field(1 << core))
        ring = [tile for tile in plan.torus.discs(RING[-1] ** 2)[core] if steps(core, tile) in RING]
        for bot in guards:
            places = bits(tile for tile in ring if plan.is_open(tile) or tile == bot)
            plan.go(bot, plan.known.field(places & ~plan.known.walls))
