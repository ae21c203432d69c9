"""The built-in strategies of End of Codes (docs/strategies.md)."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from cw.games.end_of_codes.state import State
from cw.games.end_of_codes.strategies.hunter import Hunter
from cw.games.end_of_codes.strategies.world import Cell, Creature, intent, living, neighbours
from cw.games.rules import Json, Player, StrategyFactory


class PlayerStrategy:
    """A strategy that commands the creatures of one player."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat; `rng` makes all random choices."""
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
"""By name, weakest strategy first."""
