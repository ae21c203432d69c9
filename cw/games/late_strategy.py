"""A built-in strategy whose module is loaded when it takes a seat."""

from __future__ import annotations

from pkgutil import resolve_name
from random import Random
from typing import Any

from cw.games.rules import Player, Strategy


class LateStrategy:
    """Defers loading a strategy's libraries, which listing its name does not need."""

    def __init__(self, where: str, words: str) -> None:
        """Store the place of its class, `module:name`, and its description."""
        self.where = where
        self.__doc__ = words

    def __call__(self, player: Player, rng: Random) -> Strategy[Any, Any]:
        """Load the strategy and seat it; `rng` makes all its random choices."""
        strategy: Strategy[Any, Any] = resolve_name(self.where)(player, rng)
        return strategy
