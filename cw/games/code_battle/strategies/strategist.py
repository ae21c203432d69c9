"""The strong strategy: gathers, infers enemy cores by symmetry, and fights when it outnumbers."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from cw.games.code_battle.rules.torus import Tile, Torus
from cw.games.code_battle.strategies.commander import Commander
from cw.games.code_battle.strategies.formation import QUORUM, advance, medoid, outnumbers, trades
from cw.games.code_battle.strategies.paths import bits
from cw.games.code_battle.strategies.plan import BESIDE, TurnPlan

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
