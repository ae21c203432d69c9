"""What bots need from competitions, which are unknown at this layer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from cw_hub.store.database import Reading, Writing


@dataclass(frozen=True, slots=True)
class Competing:
    """How bots of people compete on a site."""

    games: Callable[[Reading], Collection[str]]
    """Returns the games with a running competition that new bots can enter."""
    enter: Callable[[Writing, int], object]
    """Enters a bot, by the id of its row, in the competitions of its game. Idempotent."""
    ratings: Callable[[Reading, int], Mapping[int, float]]
    """Returns the ratings of the bots of a user, by the ids of their rows."""
