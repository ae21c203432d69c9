"""How pages offer a game: matches to watch, playing by hand, measured strength."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cw.games.rules import Json, Player

Moves: TypeAlias = Callable[[Any, Player], Sequence[Json]]
"""Returns the documents of all actions that a player may choose from in a state."""


Words: TypeAlias = Callable[[Json], str]
"""Returns what the document of an action is called, in a few words."""


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
    """The built-in strategies that sit down if nothing else is chosen, in turn.

    They take as many seats as the game needs, or all that are named if these are more.
    """
    most_players: int = 2
    choices: Sequence[Choice] = ()
    moves: Moves | None = None
    """For a game that people play by hand."""
    words: Words | None = None
    """What pages call these actions; None: what their documents say."""
    measured: Mapping[str, Json] = field(default_factory=dict)
    """Options of the matches in which the strength of strategies is measured.

    They keep matches of two strategies from being alike, where the game does not start by chance.
    """
