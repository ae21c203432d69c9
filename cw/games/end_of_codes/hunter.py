"""The strong strategy of End of Codes: waits in a group for good odds, then strikes."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from random import Random
from typing import Final

from cw.games.end_of_codes.state import State
from cw.games.end_of_codes.world import Cell, Creature, intent, living, neighbours
from cw.games.rules import Json, Player

FAR: Final = 10**6
"""A distance that nobody walks."""

SIGHT: Final = 3
"""Steps within which strength is counted."""

NEAR: Final = 4
"""Steps within which an opponent is hunted even in peace."""

PATIENCE: Final = 1000
"""The round from which it attacks whatever the odds."""


class Hunter:
    """Flees or groups while others fight, and closes in where it outnumbers its opponents."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat."""
        self.player = player
        self.rng = rng

    def act(self, view: State) -> Json:
        """Command all own living creatures."""
        return {"intent": Round(view, int(self.player), self.rng).intents()}


class Round:
    """One round as the hunter sees it, and what it has chosen so far."""

    def __init__(self, state: State, player: int, rng: Random) -> None:
        """Look at the map."""
        self.state = state
        self.rng = rng
        self.world = living(state)
        self.own = [c for c in self.world.values() if c.owner == player]
        self.foes = {cell: c for cell, c in self.world.items() if c.owner != player}
        opponents = len({foe.owner for foe in self.foes.values()})
        waiting = state.round < PATIENCE
        self.peace = opponents > 1 and waiting
        self.factor = (3 if opponents > 1 else 1) if waiting else 0
        self.distance = self._distances()
        self.closed: set[Cell] = set()

    def intents(self) -> list[Json]:
        """Choose for the creatures next to opponents, then for the others, nearest first."""
        if not self.foes or not self.own:
            return []
        beside = [c for c in self.own if self._targets(c)]
        others = [c for c in self.own if not self._targets(c)]
        others.sort(key=lambda c: (self.distance.get(c.cell, FAR), c.id))
        return [*self._struggle(beside), *self._approach(others)]

    def _distances(self) -> dict[Cell, int]:
        """Count the steps from the nearest opponent, through free cells."""
        distance = dict.fromkeys(self.foes, 0)
        queue = deque(self.foes)
        while queue:
            cell = queue.popleft()
            for near in neighbours(self.state, cell).values():
                if near not in distance:
                    distance[near] = distance[cell] + 1
                    if near not in self.world:
                        queue.append(near)
        return distance

    def _outnumbers(self, cell: Cell) -> bool:
        """Return whether own creatures within sight of a cell suffice for those of opponents."""
        x, y = cell
        strength = Counter(
            near in self.foes
            for right in range(-SIGHT, SIGHT + 1)
            for up in range(abs(right) - SIGHT, SIGHT - abs(right) + 1)
            if (near := (x + right, y + up)) in self.world
        )
        return strength[False] >= self.factor * strength[True]

    def _targets(self, creature: Creature) -> dict[str, Creature]:
        beside = neighbours(self.state, creature.cell)
        return {way: self.foes[cell] for way, cell in beside.items() if cell in self.foes}

    def _free(self, creature: Creature) -> dict[str, Cell]:
        """Return the neighbouring cells that nobody holds and no own creature has chosen."""
        beside = neighbours(self.state, creature.cell)
        return {
            way: cell
            for way, cell in beside.items()
            if cell not in self.world and cell not in self.closed
        }

    def _go(self, creature: Creature, ways: Mapping[str, Cell]) -> Json:
        """Move to the first of some cells."""
        way, cell = next(iter(ways.items()))
        self.closed.add(cell)
        return intent(creature, "move", way)

    def _struggle(self, beside: list[Creature]) -> Iterator[Json]:
        """Flee from worse odds where that is possible, else attack who is weakest."""
        fighting = []
        for creature in beside:
            outnumbered = self.peace and not self._outnumbers(creature.cell)
            refuge = self._refuge(creature) if outnumbered else {}
            if refuge:
                yield self._go(creature, refuge)
            else:
                fighting.append(creature)
        hits: Counter[int] = Counter()
        for creature in sorted(fighting, key=lambda c: (len(self._targets(c)), c.id)):
            targets = self._targets(creature)
            way = min(targets, key=lambda way: self._rest(targets[way], hits))
            hits[targets[way].id] += 1
            yield intent(creature, "attack", way)

    def _rest(self, target: Creature, hits: Counter[int]) -> tuple[bool, int]:
        """Order targets by the hit points they have left, those with none last."""
        left = target.hp - hits[target.id]
        return left <= 0, left

    def _refuge(self, creature: Creature) -> dict[str, Cell]:
        """Return the free cells that touch no opponent, the farthest from them first."""
        safe = {w: c for w, c in self._free(creature).items() if self.distance.get(c, FAR) > 1}
        farthest = sorted(safe.items(), key=lambda entry: -self.distance.get(entry[1], FAR))
        return dict(farthest)

    def _approach(self, others: list[Creature]) -> Iterator[Json]:
        """Move the creatures that touch no opponent; now and then one stays, to break deadlocks."""
        heart = self._heart()
        for creature in others:
            if self.rng.random() < 1 / 8:
                continue
            ways = self._hunt(creature) or (self._keep_away(creature, heart) if self.peace else {})
            if ways:
                yield self._go(creature, ways)

    def _hunt(self, creature: Creature) -> dict[str, Cell]:
        """Return the free cells nearer to an opponent, close ones only where the odds are good."""
        here = self.distance.get(creature.cell, FAR)
        if self.peace and here > NEAR:
            return {}
        return {
            way: cell
            for way, cell in self._free(creature).items()
            if (there := self.distance.get(cell, FAR)) < here
            and (there > 2 or self._outnumbers(cell))
        }

    def _keep_away(self, creature: Creature, heart: Cell) -> dict[str, Cell]:
        """Return the free cells that lead away from opponents, or else to the own group."""
        here = self.distance.get(creature.cell, FAR)
        free = self._free(creature)
        if here <= 2:
            return {w: c for w, c in free.items() if self.distance.get(c, FAR) > here}
        return {
            way: cell
            for way, cell in free.items()
            if steps(cell, heart) < steps(creature.cell, heart)
            and self.distance.get(cell, FAR) >= SIGHT
        }

    def _heart(self) -> Cell:
        """Return the cell of the own creature closest to the own centre of gravity."""
        number = len(self.own)
        x = sum(c.cell[0] for c in self.own) / number
        y = sum(c.cell[1] for c in self.own) / number
        return min(self.own, key=lambda c: (abs(c.cell[0] - x) + abs(c.cell[1] - y), c.id)).cell


def steps(a: Cell, b: Cell) -> int:
    """Count the steps between two cells."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])
