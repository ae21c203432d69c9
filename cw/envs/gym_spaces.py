"""The spaces of environments: arrays if the game defines them, otherwise documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from gymnasium.spaces import MultiDiscrete, Space

from cw.games.rules import Json


class MaskedNumbers(MultiDiscrete[np.int64]):
    """Several numbers with equally many values; a mask concatenates their masks in one array."""

    def __init__(self, numbers: int, values: int) -> None:
        """Create the space; values start at 0."""
        super().__init__([values] * numbers)
        self.values = values

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Draw each number from the values that its part of the mask allows; 0 if it allows none.

        Tuples of masks and of probabilities are handled as by MultiDiscrete.
        """
        if not isinstance(mask, np.ndarray):
            return super().sample(mask, probability)
        allowed = mask.reshape(len(self.nvec), self.values)
        # Draws are above 0, so allowed values always win over those that are not.
        draws = 1 - self.np_random.random(allowed.shape)
        return (draws * allowed).argmax(axis=1)


class LegalActions(Space[Json]):
    """The actions that are currently legal for an agent, as documents; None if it owes none."""

    def __init__(self, draw: Callable[[Random], Json], is_legal: Callable[[Json], bool]) -> None:
        """Use these functions of the rules on the current state."""
        super().__init__()
        self.draw = draw
        self.is_legal = is_legal

    def sample(self, mask: Any = None, probability: Any = None) -> Json:
        """Draw an action by the rules; masks are not supported."""
        return self.draw(Random(int(self.np_random.integers(2**62))))

    def contains(self, x: Any) -> bool:
        """Return whether a document is an action that is currently legal."""
        return self.is_legal(x)

    @property
    def is_np_flattenable(self) -> bool:
        """False: documents have no array form."""
        return False


class Documents(Space[Json]):
    """Any JSON; a sample is the agent's current view."""

    def __init__(self, see: Callable[[], Json]) -> None:
        """Sample what `see` returns for the current state."""
        super().__init__()
        self.see = see

    def sample(self, mask: Any = None, probability: Any = None) -> Json:
        """Return the agent's current view."""
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
        """False: documents have no array form."""
        return False
