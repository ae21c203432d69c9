"""How pages offer a game: matches to watch, manual play, measured strength."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cw.games.rules import Json, Player

Moves: TypeAlias = Callable[[Any, Player], Sequence[Json]]
"""Returns the documents of all actions open to a player in a state."""


Words: TypeAlias = Callable[[Json], str]
"""Returns a short name for an action's document."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of the game, and the values that people may choose."""

    option: str
    words: str
    """Its description for people."""
    values: Sequence[Json]
    """The allowed values, the default first."""


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """The choices for a match that a server plays."""

    strategies: Sequence[str]
    """The built-in strategies that take seats if nothing else is chosen, in turn.

    They fill as many seats as the game needs, or one each if more are listed.
    """
    most_players: int = 2
    choices: Sequence[Choice] = ()
    moves: Moves | None = None
    """For a game with manual play."""
    words: Words | None = None
    """The actions' names on pages; None shows their documents."""
    measured: Mapping[str, Json] = field(default_factory=dict)
    """Options of the matches in which the strength of strategies is measured.

    They make matches of two strategies differ if the game does not start at random.
    """
