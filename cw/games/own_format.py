"""What a game reads from a file in its own replay format: enough to play it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cw.games.rules import Json
from cw.games.wire import Credits


@dataclass(frozen=True, slots=True)
class OwnMatch:
    """A match as a file of a game's own format tells it; nothing in it is proven."""

    date: str
    seed: int
    options: Mapping[str, Json]
    """By which the match begins as it is told."""
    names: Sequence[str]
    """Of the bots, in the order of slots."""
    credits: Credits
    start: Json
    """The document of the first state."""
    actions: Sequence[Mapping[str, Json]]
    """The actions and faults of every turn, as the codec of the game reads them."""
    recorded: Json
    """What the exporter of the game writes of this match if all is true; members of its first two
    levels may be missing."""
