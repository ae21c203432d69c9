"""The strong strategy: gathers, infers enemy cores by symmetry, and fights when it outnumbers."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Final, NamedTuple

import numpy as np

from cw.games.code_battle.rules.state import Tile, Torus
from cw.games.code_battle.strategies.knowledge import bits
from cw.games.code_battle.strategies.plan import (
    BESIDE,
    QUORUM,
    Commander,
    TurnPlan,
    advance,
    medoid,
    outnumbers,
    trades,
)
from cw.games.rules import Player

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
"""The energy to save. Spawning is automatic, so a bot must stand on the core to prevent it."""


class Guardian(Commander):
    """Guards its cores, and attacks with two or more bots together."""

    def command(self, plan: TurnPlan) -> None:
        """Respond to raids, gather near home, scout, and fill the rings with the remaining bots."""
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
        """Initialize the strategy for a slot, with no targets yet."""
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


RAID: Final = 8
"""The distance in steps from an own core within which enemies are confronted."""

HALVES: Final = ((0, 1), (1, 1), (1, 0))
"""The translations of `half_shift`, in halves of the rows and columns."""

GATE: Final = 5
"""The distance in steps from an own core within which trading one bot for one is good."""

STRONG: Final = 8
"""The number of own bots from which the free ones attack."""


class Strategist(Commander):
    """Gathers, answers raids, and with eight bots or more attacks cores in a group."""

    def command(self, plan: TurnPlan) -> None:
        """Defend, gather, hold the nodes, attack, explore."""
        for core in plan.known.cores_of(enemy=False):
            self.defend(plan, core)
        plan.gather(plan.free)
        if len(plan.own) >= STRONG:
            self.attack(plan)
        self.scout(plan)
        self.hold_nodes(plan)
        plan.explore(plan.free)

    def defend(self, plan: TurnPlan, core: Tile) -> None:
        """Confront enemies near a core with one more bot than theirs; close to it, trade evenly."""
        raiders = plan.near(core, plan.enemies, RAID)
        if not raiders:
            return
        field = plan.known.distance_field(bits(raiders))
        enough = trades if plan.near(core, raiders, GATE) else outnumbers
        nearest = sorted(plan.free, key=lambda bot: (plan.known.steps(core, bot), bot))
        for bot in nearest[: len(raiders) + 1]:
            plan.go(bot, field, partial(enough, plan, bot))

    def attack(self, plan: TurnPlan) -> None:
        """Send a squad of the free bots to the enemy core nearest to them."""
        targets = self.targets(plan)
        group = sorted(plan.free)
        if len(group) < QUORUM or not targets:
            return
        centre = medoid(plan, group)
        nearest = min(targets, key=lambda core: (plan.known.steps(centre, core), core))
        group.sort(key=lambda bot: (plan.known.steps(nearest, bot), bot))
        squad = group[: max(QUORUM, len(plan.own) // 3)]
        advance(plan, squad, plan.known.distance_field(1 << nearest))

    def scout(self, plan: TurnPlan) -> None:
        """Send a sixth of the bots, those farthest from known nodes, to find more nodes."""
        scouts = max(1, len(plan.own) // 6)
        nodes = np.array(sorted(plan.known.nodes), dtype=np.int64)

        def from_nodes(bot: Tile) -> int:
            return int(plan.known.steps.to_all(bot, nodes).min()) if len(nodes) else 0

        plan.explore(sorted(plan.free, key=lambda bot: (from_nodes(bot), bot))[-scouts:])

    def hold_nodes(self, plan: TurnPlan) -> None:
        """Send a bot to wait at each known node, nearest pairs first: its energy will reappear."""
        nodes = sorted(plan.known.nodes)
        tiles = np.array(nodes, dtype=np.int64)
        pairs = sorted(
            (steps, bot, node)
            for bot in plan.free
            for steps, node in zip(plan.known.steps.to_all(bot, tiles).tolist(), nodes, strict=True)
        )
        occupied: set[Tile] = set()
        for _, bot, node in pairs:
            if bot in plan.free and node not in occupied:
                occupied.add(node)
                goals = plan.torus.bit_discs(BESIDE)[node] & ~plan.known.walls
                plan.go(bot, plan.known.distance_field(goals))

    def targets(self, plan: TurnPlan) -> list[Tile]:
        """Return the known enemy cores, or else the unexplored symmetric images of own cores."""
        cores = plan.known.cores_of(enemy=True)
        if cores:
            return cores
        homes = [tile for tile, core in plan.known.cores.items() if core.owner == 0]
        images = {image for tile in homes for image in symmetric_images(plan.torus, tile)}
        return sorted(image for image in images if not plan.known.explored >> image & 1)


def symmetric_images(torus: Torus, tile: Tile) -> list[Tile]:
    """Return the images of a tile under symmetries of maps with any number of players.

    These are rot180, half_shift, shifts by thirds of the rows and, on square maps, rot90.
    """
    rows, cols = torus.rows, torus.cols
    row, col = divmod(tile, cols)
    images = [(rows - 1 - row, cols - 1 - col)]
    images += [(row + down * rows // 2, col + right * cols // 2) for down, right in HALVES]
    images += [(row + n * rows // 3, col) for n in (1, 2)]
    if rows == cols:
        images += [(col, rows - 1 - row), (cols - 1 - col, row)]
    return [row % rows * cols + col % cols for row, col in images]
