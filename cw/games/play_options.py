"""What pages offer of a game to people: matches to watch, and playing by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from cw.games.rules import Json, Player

Moves: TypeAlias = Callable[[Any, Player], Sequence[Json]]
"""Returns the documents of all actions that a player may choose from in a state."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of the game, and the values that people may choose."""

    option: str
    words: str
    """What it is, for people."""
    values: Sequence[Json]
    """The usual one first."""


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """What may be chosen for a match that a server plays."""

    strategies: Sequence[str]
    """The built-in strategies that sit down if nothing else is chosen."""
    most_players: int = 2
    choices: Sequence[Choice] = ()
    moves: Moves | None = None
    """For a game that people play by hand."""
