"""The random bot."""

from __future__ import annotations

from random import Random

from cw.games.code_battle.rules.torus import DIRECTIONS
from cw.games.code_battle.rules.vision import View
from cw.games.rules import Json, Player


class RandomBot:
    """Each bot holds with probability 0.2, or moves in a random direction."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat; `rng` makes all random choices."""
        self.rng = rng

    def act(self, view: View) -> list[Json]:
        """Return random orders for own bots."""
        cols = view.config.cols
        return [
            {"row": tile // cols, "col": tile % cols, "direction": self.rng.choice([*DIRECTIONS])}
            for tile, owner in view.bots
            if owner == 0 and self.rng.random() >= 0.2
        ]
