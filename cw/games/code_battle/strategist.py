"""The strong strategy: an economy, a guess where the enemy lives, and fights that it wins."""

from __future__ import annotations

from functools import partial
from typing import Final

from cw.games.code_battle.commander import Commander
from cw.games.code_battle.formation import QUORUM, advance, centre_of, outnumbers, trades
from cw.games.code_battle.paths import bits
from cw.games.code_battle.plan import BESIDE, Plan
from cw.games.code_battle.torus import Tile, Torus

RAID: Final = 8
"""Steps from an own core within which enemies are always met."""

HALVES: Final = ((0, 1), (1, 1), (1, 0))

GATE: Final = 5
"""Steps from an own core within which one bot for one is a good trade."""

STRONG: Final = 8
"""Bots from which on the free ones attack."""


class Strategist(Commander):
    """Gathers, answers raids, and from eight bots on goes for cores in a group."""

    def command(self, plan: Plan) -> None:
        """Defend, gather, hold the nodes, attack, explore."""
        for core in plan.known.cores_of(enemy=False):
            self.defend(plan, core)
        plan.gather(plan.free)
        if len(plan.own) >= STRONG:
            self.attack(plan)
        self.scout(plan)
        self.hold_nodes(plan)
        plan.explore(plan.free)

    def defend(self, plan: Plan, core: Tile) -> None:
        """Meet enemies near a core with one bot more than they are; at the gate trade evenly."""
        raiders = plan.near(core, plan.enemies, RAID)
        if not raiders:
            return
        field = plan.known.field(bits(raiders))
        enough = trades if plan.near(core, raiders, GATE) else outnumbers
        nearest = sorted(plan.free, key=lambda bot: (plan.known.steps(core, bot), bot))
        for bot in nearest[: len(raiders) + 1]:
            plan.go(bot, field, partial(enough, plan, bot))

    def attack(self, plan: Plan) -> None:
        """Send the free bots nearest to an enemy core there, together."""
        targets = self.targets(plan)
        group = sorted(plan.free)
        if len(group) < QUORUM or not targets:
            return
        centre = centre_of(plan, group)
        nearest = min(targets, key=lambda core: (plan.known.steps(centre, core), core))
        group.sort(key=lambda bot: (plan.known.steps(nearest, bot), bot))
        squad = group[: max(QUORUM, len(plan.own) // 3)]
        advance(plan, squad, plan.known.field(1 << nearest))

    def scout(self, plan: Plan) -> None:
        """Look for more nodes with a few bots, whatever else there is to do."""
        scouts = max(1, len(plan.own) // 6)
        plan.explore(sorted(plan.free, key=lambda bot: (self.from_nodes(plan, bot), bot))[-scouts:])

    def from_nodes(self, plan: Plan, bot: Tile) -> int:
        """Count the steps to the nearest known node."""
        return min((plan.known.steps(bot, node) for node in plan.known.nodes), default=0)

    def hold_nodes(self, plan: Plan) -> None:
        """Let one bot wait at each known node: energy comes back there."""
        steps = plan.known.steps
        pairs = sorted(
            (steps(bot, node), bot, node) for bot in plan.free for node in plan.known.nodes
        )
        manned: set[Tile] = set()
        for _, bot, node in pairs:
            if bot in plan.free and node not in manned:
                manned.add(node)
                goals = bits(plan.torus.discs(BESIDE)[node]) & ~plan.known.walls
                plan.go(bot, plan.known.field(goals))

    def targets(self, plan: Plan) -> list[Tile]:
        """Return the enemy cores that are known, else where the symmetries of maps put them."""
        known = plan.known.cores_of(enemy=True)
        if known:
            return known
        own = [tile for tile, core in plan.known.cores.items() if core.owner == 0]
        images = {image for tile in own for image in mirrored(plan.torus, tile)}
        return sorted(image for image in images if not plan.known.explored >> image & 1)


def mirrored(torus: Torus, tile: Tile) -> list[Tile]:
    """Return where the symmetries of maps for 2, 4, 3 and 6 players put the images of a tile."""
    rows, cols = torus.rows, torus.cols
    row, col = divmod(tile, cols)
    images = [(rows - 1 - row, cols - 1 - col)]
    images += [(row + down * rows // 2, col + right * cols // 2) for down, right in HALVES]
    images += [(row + n * rows // 3, col) for n in (1, 2)]
    if rows == cols:
        images += [(col, rows - 1 - row), (cols - 1 - col, row)]
    return [row % rows * cols + col % cols for row, col in images]
