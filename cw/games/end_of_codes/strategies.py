"""The built-in strategies of End of Codes."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from cw.games.end_of_codes.hunter import Hunter
from cw.games.end_of_codes.state import State
from cw.games.end_of_codes.world import Cell, Creature, intent, living, neighbours
from cw.games.rules import Json, Player, StrategyFactory


class Seated:
    """A strategy for one player."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat."""
        self.player = player
        self.rng = rng


class Idle(Seated):
    """Sends no intents."""

    def act(self, view: State) -> Json:
        """Leave all creatures idle."""
        return {"intent": []}


class Sample(Seated):
    """The prototype of a bot: attacks a random neighbour, else idles or walks about."""

    def act(self, view: State) -> Json:
        """Choose for each own living creature on its own."""
        world = living(view)
        chosen = [
            self.choose(view, world, creature)
            for creature in world.values()
            if creature.owner == self.player
        ]
        return {"intent": [intent for intent in chosen if intent is not None]}

    def choose(self, state: State, world: Mapping[Cell, Creature], creature: Creature) -> Json:
        """Attack any opponent next to it; else idle or make a valid move, half each."""
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
"""By name, the weakest first."""
