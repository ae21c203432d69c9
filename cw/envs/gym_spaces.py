"""The spaces of environments: arrays where a game defines them, else documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from gymnasium.spaces import MultiDiscrete, Space

from cw.games.rules import Json


class MaskedNumbers(MultiDiscrete[np.int64]):
    """Several numbers, each with as many values; a mask is one array, the numbers in a row."""

    def __init__(self, numbers: int, values: int) -> None:
        """Take the values from 0."""
        super().__init__([values] * numbers)
        self.values = values

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Draw each number from the values that its part of the mask allows; 0 where it is empty.

        Tuples of masks and of probabilities are taken as by MultiDiscrete.
        """
        if not isinstance(mask, np.ndarray):
            return super().sample(mask, probability)
        allowed = mask.reshape(len(self.nvec), self.values)
        # Draws are above 0, so that what is allowed always comes before what is not.
        draws = 1 - self.np_random.random(allowed.shape)
        return (draws * allowed).argmax(axis=1)


class LegalActions(Space[Json]):
    """The actions that the rules allow an agent now, as documents; None where it owes none."""

    def __init__(self, draw: Callable[[Random], Json], is_legal: Callable[[Json], bool]) -> None:
        """Ask the rules of the state in which the game is then."""
        super().__init__()
        self.draw = draw
        self.is_legal = is_legal

    def sample(self, mask: Any = None, probability: Any = None) -> Json:
        """Draw an action by the rules; there are no masks."""
        return self.draw(Random(int(self.np_random.integers(2**62))))

    def contains(self, x: Any) -> bool:
        """Return whether this document is an action that the rules allow now."""
        return self.is_legal(x)

    @property
    def is_np_flattenable(self) -> bool:
        """No array holds them."""
        return False


class Documents(Space[Json]):
    """Any JSON; a sample is what the agent sees now."""

    def __init__(self, see: Callable[[], Json]) -> None:
        """Ask what is seen in the state in which the game is then."""
        super().__init__()
        self.see = see

    def sample(self, mask: Any = None, probability: Any = None) -> Json:
        """Return what the agent sees now."""
        return self.see()

    def contains(self, x: Any) -> bool:
        """Return whether a value is JSON."""
        try:
            json.dumps(x)
        except (TypeError, ValueError, RecursionError):
            return False
        return True

    @property
    def is_np_flattenable(self) -> bool:
        """No array holds them."""
        return False
