"""The orders of a turn being planned: which tiles are taken or in danger, and common tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from functools import cached_property, partial
from random import Random
from typing import Final

import numpy as np

from cw.games.code_battle.rules.state import DIRECTIONS, Direction, Tile
from cw.games.code_battle.rules.turn import View
from cw.games.code_battle.strategies.knowledge import FAR, DistanceField, Knowledge, bits
from cw.games.rules import Json, Player

BESIDE: Final = 2
"""The squared radius of the 3 x 3 tiles from which a node's energy is collected."""

LONG_UNSEEN: Final = 80
"""The turns out of sight after which exploring a tile gains no more value."""

APART: Final = 7
"""Tiles explored in the same turn must be farther apart than this, in steps."""


class TurnPlan:
    """The orders of one turn, the bots that are still free, and the tiles that are taken.

    A tile is taken while an own bot without an order stands on it, and once a bot is sent there.
    This keeps two own bots from getting the same destination, where both would die; a bot follows
    another only after that one has been ordered to leave.
    """

    def __init__(self, view: View, known: Knowledge) -> None:
        """Initialize the plan with all bots free."""
        self.view = view
        self.known = known
        self.torus = known.torus
        self.own = [tile for tile, owner in view.bots if owner == 0]
        self.enemies = [tile for tile, owner in view.bots if owner != 0]
        self.free = set(self.own)
        self.occupied = set(self.own)
        self.orders: dict[Tile, Direction] = {}

    def entries(self) -> list[Json]:
        """Return the orders as the entries of a reply."""
        cols = self.view.config.cols
        return [
            {"row": tile // cols, "col": tile % cols, "direction": way}
            for tile, way in self.orders.items()
        ]

    @cached_property
    def threats(self) -> dict[Tile, int]:
        """Tile -> the number of enemies that could have it within attack reach after one step."""
        reach = self.torus.discs(self.view.config.attack_radius2)
        count: Counter[Tile] = Counter()
        for enemy in self.enemies:
            beside = (self.torus.ahead[way][enemy] for way in DIRECTIONS)
            entered = [near for near in beside if not self.known.walls >> near & 1]
            count.update(set(reach[enemy]).union(*(reach[near] for near in entered)))
        return count

    def near(self, tile: Tile, others: Iterable[Tile], steps: int) -> list[Tile]:
        """Return the tiles of `others` that are at most `steps` from a tile, ignoring walls."""
        return [other for other in others if self.known.steps(tile, other) <= steps]

    def hold(self, bot: Tile) -> None:
        """Keep a bot where it is; it is no longer free."""
        self.free.discard(bot)

    def send(self, bot: Tile, way: Direction) -> None:
        """Order a bot to move in a direction; it is no longer free."""
        self.free.discard(bot)
        self.occupied.discard(bot)
        self.occupied.add(self.torus.ahead[way][bot])
        self.orders[bot] = way

    def is_open(self, tile: Tile) -> bool:
        """Return whether a bot may be sent to a tile, which is neither a known wall nor taken."""
        return tile not in self.occupied and not self.known.walls >> tile & 1

    def is_safe(self, tile: Tile) -> bool:
        """Return whether a tile stays out of the enemies' attack reach after one step of theirs."""
        return tile not in self.threats

    def support(self, bot: Tile, tile: Tile) -> int:
        """Return how many other own bots are planned to be on or around a tile after the turn."""
        return sum(near in self.occupied for near in self.torus.discs(BESIDE)[tile] if near != bot)

    def go(
        self, bot: Tile, field: DistanceField, allowed: Callable[[Tile], bool] | None = None
    ) -> None:
        """Send a bot one step towards goals, never farther away, over allowed tiles.

        By default only safe tiles are allowed. A bot without such a step holds, or flees if its own
        tile is not allowed.
        """
        allowed = allowed or self.is_safe
        here = field.distance(bot)
        for steps, way, tile in field.approaches(bot, here):
            if steps <= here and self.is_open(tile) and allowed(tile):
                self.send(bot, way)
                return
        if allowed(bot):
            self.hold(bot)
        else:
            self.flee(bot)

    def flee(self, bot: Tile) -> None:
        """Send a bot to the least dangerous neighbouring tile, or hold it if none is better.

        Danger is the number of threats; ties go to the tile farther from all enemies.
        """

        def safety(tile: Tile) -> tuple[int, int]:
            nearest = min((self.torus.distance2(tile, enemy) for enemy in self.enemies), default=0)
            return -self.threats.get(tile, 0), nearest

        beside = {way: self.torus.ahead[way][bot] for way in DIRECTIONS}
        exits = [way for way, tile in beside.items() if self.is_open(tile)]
        best = max(exits, key=lambda way: safety(beside[way]), default=None)
        if best is None or safety(beside[best]) <= safety(bot):
            self.hold(bot)
        else:
            self.send(bot, best)

    def gather(
        self, bots: Iterable[Tile], within: int = FAR, energy: Iterable[Tile] | None = None
    ) -> None:
        """Send bots to known energy that is at most `within` steps away.

        Bots and energy are paired greedily, shortest paths first. Energy to which a visible enemy
        has a shorter path than any of the bots is left alone.
        """
        gatherers = set(bots) & self.free
        here, others = bits(gatherers), bits(self.enemies)
        discs = self.torus.bit_discs(BESIDE)
        fields: dict[Tile, DistanceField] = {}
        pairs = []
        for place in sorted(self.known.energy if energy is None else energy):
            field = self.known.distance_field(discs[place] & ~self.known.walls)
            distances = field.distances(here, within)
            if distances:
                nearest = min(distances.values())
                rivals = field.distances(others, nearest)
                if not rivals or min(rivals.values()) >= nearest:
                    fields[place] = field
                    pairs += [(steps, bot, place) for bot, steps in distances.items()]
        for _, bot, place in sorted(pairs):
            if bot in self.free and place in fields:
                self.go(bot, fields.pop(place))

    def explore(self, bots: Iterable[Tile], unseen: float = 1.0) -> None:
        """Send bots to tiles that have long been out of sight.

        Each turn out of sight is worth `unseen`; each step on the way costs 1.5.
        """
        seen, steps = self.known.seen, self.known.steps.to_all
        open_goals = sorted(goal for goal in seen if not self.known.walls >> goal & 1)
        goals = np.array(open_goals, dtype=np.int64)
        turns = np.array([seen[goal] for goal in open_goals], dtype=np.int64)
        worth = unseen * np.minimum(self.view.turn - turns, LONG_UNSEEN)
        for bot in sorted(set(bots) & self.free):
            if not len(goals):
                self.hold(bot)
                continue
            # On ties argmax takes the first, which is on the lowest tile.
            goal = int(goals[(worth - 1.5 * steps(bot, goals)).argmax()])
            self.go(bot, self.known.distance_field(1 << goal))
            apart = steps(goal, goals) > APART
            goals, worth = goals[apart], worth[apart]


class Commander:
    """A strategy that commands the bots of one slot in one match."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Initialize the strategy for a slot, with nothing seen; `rng` makes all random choices."""
        self.rng = rng
        self.known: Knowledge | None = None

    def act(self, view: View) -> list[Json]:
        """Return the orders to all own bots as the entries of a reply."""
        if self.known is None:
            self.known = Knowledge(view)
        self.known.update(view)
        plan = TurnPlan(view, self.known)
        self.command(plan)
        return plan.entries()

    def command(self, plan: TurnPlan) -> None:
        """Give orders to the free bots of a plan."""
        raise NotImplementedError


RALLY: Final = 5
"""The maximum distance in steps from the centre at which a bot counts as part of its group."""

CLOSE: Final = 3
"""The maximum distance in steps to the nearest friend while a group advances."""

QUORUM: Final = 4
"""The minimum number of bots together for a group to advance."""


def medoid(plan: TurnPlan, group: Collection[Tile]) -> Tile:
    """Return the bot of a group with the smallest sum of distances to the others."""
    steps = plan.known.steps
    return min(group, key=lambda bot: (sum(steps(bot, other) for other in group), bot))


def advance(plan: TurnPlan, group: Collection[Tile], field: DistanceField) -> None:
    """Send a group towards the goals if enough of it is together; send the rest to its medoid."""
    centre = medoid(plan, group)
    near = plan.near(centre, group, RALLY)
    if len(near) >= max(QUORUM, 0.6 * len(group)):
        steps = field.distances(bits(near))
        for bot in sorted(steps, key=lambda bot: (steps[bot], bot)):
            plan.go(bot, field, partial(keeps_up, plan, bot))
    rally = plan.known.distance_field(1 << centre)
    for bot in sorted(set(group) & plan.free):
        if bot == centre:
            plan.hold(bot)
        else:
            plan.go(bot, rally)


def keeps_up(plan: TurnPlan, bot: Tile, tile: Tile) -> bool:
    """Return whether a bot on a tile would be close to a friend and not outnumbered."""
    others = (other for other in plan.occupied if other != bot)
    steps = plan.known.steps
    return outnumbers(plan, bot, tile) and any(steps(tile, other) <= CLOSE for other in others)


def outnumbers(plan: TurnPlan, bot: Tile, tile: Tile) -> bool:
    """Return whether a tile has no threats, or more own bots on and around it than threats."""
    threats = plan.threats.get(tile, 0)
    return not threats or 1 + plan.support(bot, tile) > threats


def trades(plan: TurnPlan, bot: Tile, tile: Tile) -> bool:
    """Return whether a tile has at least as many own bots on and around it as threats."""
    return 1 + plan.support(bot, tile) >= plan.threats.get(tile, 0)
