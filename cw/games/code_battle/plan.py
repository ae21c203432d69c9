"""The orders of one turn as they are made: traffic, danger, and the errands all bots share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Final

from cw.games.code_battle.knowledge import Knowledge
from cw.games.code_battle.paths import FAR, Field, bits, tiles_of
from cw.games.code_battle.torus import DIRECTIONS, Direction, Tile
from cw.games.code_battle.vision import View
from cw.games.rules import Json

BESIDE: Final = 2
"""Squared radius from which energy is collected."""

LONG_UNSEEN: Final = 80
"""Turns after which a tile is worth no more to be seen again."""

APART: Final = 7
"""Steps between two goals of exploration."""


class Plan:
    """One turn: who still has no order, and which tiles are taken.

    A tile is taken while an own bot without an order stands on it, and when a bot was sent there:
    so two own bots never get one destination, and a friend is followed only once it leaves.
    """

    def __init__(self, view: View, known: Knowledge) -> None:
        """Begin with all bots without an order."""
        self.view = view
        self.known = known
        self.torus = known.torus
        self.own = [tile for tile, owner in view.bots if owner == 0]
        self.enemies = [tile for tile, owner in view.bots if owner != 0]
        self.free = set(self.own)
        self.taken = set(self.own)
        self.orders: dict[Tile, Direction] = {}

    def entries(self) -> list[Json]:
        """Return the moves of a reply."""
        cols = self.view.config.cols
        return [
            {"row": tile // cols, "col": tile % cols, "direction": way}
            for tile, way in self.orders.items()
        ]

    @cached_property
    def threats(self) -> dict[Tile, int]:
        """Tile -> how many enemies can bring it within their reach in one step."""
        reach = self.torus.sights(self.view.config.attack_radius2)
        count: dict[Tile, int] = {}
        for enemy in self.enemies:
            zone = reach[enemy]
            for way in DIRECTIONS:
                near = self.torus.ahead[way][enemy]
                if not self.known.walls >> near & 1:
                    zone |= reach[near]
            for tile in tiles_of(zone):
                count[tile] = count.get(tile, 0) + 1
        return count

    def near(self, tile: Tile, others: Iterable[Tile], steps: int) -> list[Tile]:
        """Return the tiles of some that are at most some steps away."""
        return [other for other in others if self.known.steps(tile, other) <= steps]

    def hold(self, bot: Tile) -> None:
        """Leave a bot where it is."""
        self.free.discard(bot)

    def send(self, bot: Tile, way: Direction) -> None:
        """Return a bot an order."""
        self.free.discard(bot)
        self.taken.discard(bot)
        self.taken.add(self.torus.ahead[way][bot])
        self.orders[bot] = way

    def is_open(self, tile: Tile) -> bool:
        """Return whether a bot may be sent to a tile: no known wall, and not taken."""
        return tile not in self.taken and not self.known.walls >> tile & 1

    def is_safe(self, tile: Tile) -> bool:
        """Return whether no enemy can bring a tile within its reach in one step."""
        return tile not in self.threats

    def support(self, bot: Tile, tile: Tile) -> int:
        """Count the own bots beside a tile at the end of the turn, as planned; not the bot."""
        return sum(near in self.taken for near in self.torus.discs(BESIDE)[tile] if near != bot)

    def go(self, bot: Tile, field: Field, allowed: Callable[[Tile], bool] | None = None) -> None:
        """Send a bot one step nearer to goals over tiles that are allowed: safe ones if not said.

        A bot that finds no such step holds, or flees if its own tile is not allowed.
        """
        allowed = allowed or self.is_safe
        here = field.distance(bot)
        for steps, way, tile in field.ways(bot):
            if steps <= here and self.is_open(tile) and allowed(tile):
                self.send(bot, way)
                return
        if allowed(bot):
            self.hold(bot)
        else:
            self.flee(bot)

    def flee(self, bot: Tile) -> None:
        """Send a bot to the tile beside it, or keep it, where enemies are farthest."""

        def safety(tile: Tile) -> tuple[int, int]:
            nearest = min((self.torus.distance2(tile, enemy) for enemy in self.enemies), default=0)
            return -self.threats.get(tile, 0), nearest

        beside = {way: self.torus.ahead[way][bot] for way in DIRECTIONS}
        ways = [way for way, tile in beside.items() if self.is_open(tile)]
        best = max(ways, key=lambda way: safety(beside[way]), default=None)
        if best is None or safety(beside[best]) <= safety(bot):
            self.hold(bot)
        else:
            self.send(bot, best)

    def gather(
        self, bots: Iterable[Tile], within: int = FAR, energy: Iterable[Tile] | None = None
    ) -> None:
        """Send bots to known energy: shortest ways first, each bot and each energy once."""
        wanted = set(bots) & self.free
        here, others = bits(wanted), bits(self.enemies)
        discs = self.torus.discs(BESIDE)
        fields: dict[Tile, Field] = {}
        pairs = []
        for place in sorted(self.known.energy if energy is None else energy):
            field = self.known.field(bits(discs[place]) & ~self.known.walls)
            own = field.distances(here, within)
            if own:
                nearest = min(own.values())
                lost = field.distances(others, nearest)
                if not lost or min(lost.values()) >= nearest:
                    fields[place] = field
                    pairs += [(steps, bot, place) for bot, steps in own.items()]
        for _, bot, place in sorted(pairs):
            if bot in self.free and place in fields:
                self.go(bot, fields.pop(place))

    def explore(self, bots: Iterable[Tile], unseen: float = 1.0) -> None:
        """Send bots to where nobody has looked for long; `unseen` weighs that against the way."""
        goals = {
            goal: unseen * min(self.view.turn - turn, LONG_UNSEEN)
            for goal, turn in self.known.seen.items()
            if not self.known.walls >> goal & 1
        }
        for bot in sorted(set(bots) & self.free):
            if not goals:
                self.hold(bot)
                continue
            steps = self.known.steps
            goal = max(goals, key=lambda goal: (goals[goal] - 1.5 * steps(bot, goal), -goal))
            self.go(bot, self.known.field(1 << goal))
            goals = {other: worth for other, worth in goals.items() if steps(goal, other) > APART}
