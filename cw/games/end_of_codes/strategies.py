"""The built-in strategies of End of Codes (docs/strategies.md)."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from random import Random
from typing import Final, NamedTuple, TypeAlias

from cw.games.end_of_codes.state import DIRECTIONS, State
from cw.games.rules import Json, Player, StrategyFactory

Cell: TypeAlias = tuple[int, int]
"""x grows to the east, y to the north."""


class Creature(NamedTuple):
    """A living creature."""

    id: int
    owner: int
    cell: Cell
    hp: int


def living(state: State) -> dict[Cell, Creature]:
    """Return all living creatures by their cell, in ascending id."""
    columns = (state.ids, state.owners, state.x, state.y, state.hp)
    return {
        (x, y): Creature(creature, owner, (x, y), hp)
        for creature, owner, x, y, hp in zip(*(c.tolist() for c in columns), strict=True)
        if hp > 0
    }


def neighbours(state: State, cell: Cell) -> dict[str, Cell]:
    """Return the neighbours of a cell on the map, by direction."""
    x, y = cell
    beside = {way: (x + right, y + up) for way, (right, up) in DIRECTIONS.items()}
    return {
        way: (x, y)
        for way, (x, y) in beside.items()
        if 0 <= x < state.width and 0 <= y < state.height
    }


def intent(creature: Creature, action: str, direction: str) -> Json:
    """Return an intent as JSON."""
    return {"creatureid": creature.id, "action": action, "direction": direction}


FAR: Final = 10**6
"""A distance longer than any path."""

SIGHT: Final = 3
"""The distance in steps within which creatures count for the odds of a fight."""

NEAR: Final = 4
"""The distance in steps within which a cautious creature approaches an opponent."""

PATIENCE: Final = 1000
"""The round from which it attacks at any odds, so that a game of cautious players ends."""


class Hunter:
    """Flees or groups while others fight, and attacks where it outnumbers its opponents."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Initialize the strategy for a seat; `rng` makes all random choices."""
        self.player = player
        self.rng = rng

    def act(self, view: State) -> Json:
        """Return the intents of own living creatures."""
        return {"intent": RoundPlan(view, int(self.player), self.rng).intents()}


class RoundPlan:
    """The intents of one round, as they are chosen."""

    def __init__(self, state: State, player: int, rng: Random) -> None:
        """Initialize the plan without intents.

        While several opponents are alive, the hunter is cautious and requires odds of three to one;
        against the last opponent even odds are enough.
        """
        self.state = state
        self.rng = rng
        self.world = living(state)
        self.own = [c for c in self.world.values() if c.owner == player]
        self.opponents = {cell: c for cell, c in self.world.items() if c.owner != player}
        opponent_count = len({opponent.owner for opponent in self.opponents.values()})
        waiting = state.round < PATIENCE
        self.cautious = opponent_count > 1 and waiting
        self.odds = (3 if opponent_count > 1 else 1) if waiting else 0
        self.distance = self._distances()
        self.claimed: set[Cell] = set()
        """The cells to which own creatures move in this round."""

    def intents(self) -> list[Json]:
        """Return the intents of creatures next to opponents, then of the rest, nearest first."""
        if not self.opponents or not self.own:
            return []
        beside = [c for c in self.own if self._targets(c)]
        others = [c for c in self.own if not self._targets(c)]
        others.sort(key=lambda c: (self.distance.get(c.cell, FAR), c.id))
        return [*self._fight_or_flee(beside), *self._advance(others)]

    def _distances(self) -> dict[Cell, int]:
        """Return the steps from the nearest opponent to each cell on a path of free cells."""
        distance = dict.fromkeys(self.opponents, 0)
        queue = deque(self.opponents)
        while queue:
            cell = queue.popleft()
            for near in neighbours(self.state, cell).values():
                if near not in distance:
                    distance[near] = distance[cell] + 1
                    if near not in self.world:
                        queue.append(near)
        return distance

    def _outnumbers(self, cell: Cell) -> bool:
        """Return whether own creatures around a cell are at least `odds` times the opponents."""
        x, y = cell
        strength = Counter(
            near in self.opponents
            for right in range(-SIGHT, SIGHT + 1)
            for up in range(abs(right) - SIGHT, SIGHT - abs(right) + 1)
            if (near := (x + right, y + up)) in self.world
        )
        return strength[False] >= self.odds * strength[True]

    def _targets(self, creature: Creature) -> dict[str, Creature]:
        beside = neighbours(self.state, creature.cell)
        return {way: self.opponents[cell] for way, cell in beside.items() if cell in self.opponents}

    def _free(self, creature: Creature) -> dict[str, Cell]:
        """Return the neighbouring cells, by direction, that are neither occupied nor claimed."""
        beside = neighbours(self.state, creature.cell)
        return {
            way: cell
            for way, cell in beside.items()
            if cell not in self.world and cell not in self.claimed
        }

    def _go(self, creature: Creature, ways: Mapping[str, Cell]) -> Json:
        """Claim the first of the given cells, and return the intent to move there."""
        way, cell = next(iter(ways.items()))
        self.claimed.add(cell)
        return intent(creature, "move", way)

    def _fight_or_flee(self, beside: list[Creature]) -> Iterator[Json]:
        """Yield the intents of creatures next to opponents.

        Cautious ones flee from bad odds if they can. The others attack: creatures with the fewest
        targets first, each the target with the fewest hit points left after the attacks so far.
        """
        fighting = []
        for creature in beside:
            outnumbered = self.cautious and not self._outnumbers(creature.cell)
            refuge = self._refuge(creature) if outnumbered else {}
            if refuge:
                yield self._go(creature, refuge)
            else:
                fighting.append(creature)
        hits: Counter[int] = Counter()
        for creature in sorted(fighting, key=lambda c: (len(self._targets(c)), c.id)):
            targets = self._targets(creature)
            way = min(targets, key=lambda way: self._hit_points_left(targets[way], hits))
            hits[targets[way].id] += 1
            yield intent(creature, "attack", way)

    def _hit_points_left(self, target: Creature, hits: Counter[int]) -> tuple[bool, int]:
        """Return the sort key of a target: its hit points left; targets already dead come last."""
        remaining = target.hp - hits[target.id]
        return remaining <= 0, remaining

    def _refuge(self, creature: Creature) -> dict[str, Cell]:
        """Return the free cells next to no opponent, those farthest from opponents first."""
        safe = {w: c for w, c in self._free(creature).items() if self.distance.get(c, FAR) > 1}
        farthest = sorted(safe.items(), key=lambda entry: -self.distance.get(entry[1], FAR))
        return dict(farthest)

    def _advance(self, others: list[Creature]) -> Iterator[Json]:
        """Yield the intents of the remaining creatures; each stays with probability 1/8.

        This breaks up moves that would collide round after round.
        """
        centre = self._centre()
        for creature in others:
            if self.rng.random() < 1 / 8:
                continue
            ways = self._hunt(creature) or (
                self._keep_away(creature, centre) if self.cautious else {}
            )
            if ways:
                yield self._go(creature, ways)

    def _hunt(self, creature: Creature) -> dict[str, Cell]:
        """Return the free cells nearer to an opponent; when close, only those with good odds."""
        here = self.distance.get(creature.cell, FAR)
        if self.cautious and here > NEAR:
            return {}
        return {
            way: cell
            for way, cell in self._free(creature).items()
            if (there := self.distance.get(cell, FAR)) < here
            and (there > 2 or self._outnumbers(cell))
        }

    def _keep_away(self, creature: Creature, centre: Cell) -> dict[str, Cell]:
        """Return the free cells away from close opponents, or else towards the own group."""
        here = self.distance.get(creature.cell, FAR)
        free = self._free(creature)
        if here <= 2:
            return {w: c for w, c in free.items() if self.distance.get(c, FAR) > here}
        return {
            way: cell
            for way, cell in free.items()
            if steps(cell, centre) < steps(creature.cell, centre)
            and self.distance.get(cell, FAR) >= SIGHT
        }

    def _centre(self) -> Cell:
        """Return the cell of the own creature nearest to the mean of their cells."""
        number = len(self.own)
        x = sum(c.cell[0] for c in self.own) / number
        y = sum(c.cell[1] for c in self.own) / number
        return min(self.own, key=lambda c: (abs(c.cell[0] - x) + abs(c.cell[1] - y), c.id)).cell


def steps(a: Cell, b: Cell) -> int:
    """Return the number of steps between two cells."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


class PlayerStrategy:
    """A strategy that commands the creatures of one player."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Initialize the strategy for a seat; `rng` makes all random choices."""
        self.player = player
        self.rng = rng


class Idle(PlayerStrategy):
    """Sends no intents."""

    def act(self, view: State) -> Json:
        """Return a reply without intents."""
        return {"intent": []}


class Sample(PlayerStrategy):
    """The sample bot: attacks a random opponent next to it, otherwise idles or moves."""

    def act(self, view: State) -> Json:
        """Return a reply in which each own living creature decides for itself."""
        world = living(view)
        intents = [
            self.choose(view, world, creature)
            for creature in world.values()
            if creature.owner == self.player
        ]
        return {"intent": [intent for intent in intents if intent is not None]}

    def choose(self, state: State, world: Mapping[Cell, Creature], creature: Creature) -> Json:
        """Return a creature's intent, or None to idle.

        It attacks an adjacent opponent if there is one. Otherwise it idles or moves to an adjacent
        free cell, with a probability of one half each.
        """
        beside = neighbours(state, creature.cell)
        targets = [
            way
            for way, cell in beside.items()
            if cell in world and world[cell].owner != self.player
        ]
        if targets:
            return intent(creature, "attack", self.rng.choice(targets))
        free = [way for way, cell in beside.items() if cell not in world]
        if not free or self.rng.random() < 0.5:
            return None
        return intent(creature, "move", self.rng.choice(free))


STRATEGIES: Final[Mapping[str, StrategyFactory[State, Json]]] = {
    "idle": Idle,
    "sample": Sample,
    "hunter": Hunter,
}
"""The strategies by name, weakest first."""
