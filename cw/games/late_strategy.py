"""A built-in strategy whose module is loaded when it sits down."""

from __future__ import annotations

from pkgutil import resolve_name
from random import Random
from typing import Any

from cw.games.rules import Player, Strategy


class LateStrategy:
    """Makes a strategy that computes with libraries which nobody needs to list its name."""

    def __init__(self, where: str, words: str) -> None:
        """Hold the place of its class, `module:name`, and what it does, in a sentence."""
        self.where = where
        self.__doc__ = words

    def __call__(self, player: Player, rng: Random) -> Strategy[Any, Any]:
        """Load the strategy and seat it; all its draws come from `rng`."""
        strategy: Strategy[Any, Any] = resolve_name(self.where)(player, rng)
        return strategy
