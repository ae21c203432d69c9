"""What a game reads from a file in its own replay format: enough to replay it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cw.games.rules import Json
from cw.games.wire import Credits


@dataclass(frozen=True, slots=True)
class OwnMatch:
    """A match as recorded in a file of a game's own format, unverified."""

    date: str
    seed: int
    options: Mapping[str, Json]
    """The options with which the recorded match starts."""
    names: Sequence[str]
    """The bots' names, in the order of slots."""
    credits: Credits
    start: Json
    """The document of the first state."""
    actions: Sequence[Mapping[str, Json]]
    """The actions and faults of every turn, as the game's codec reads them."""
    recorded: Json
    """What the game's exporter writes for this match if the file is correct; members of its first
    two levels may be missing.
    """
