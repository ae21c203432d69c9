"""A round of End of Codes: the world as columns of numbers, and the players."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cw.errors import FaultKind

Column: TypeAlias = NDArray[np.int64]

DIRECTIONS: Final = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}
"""Change of x and of y; y grows to the north."""


class Expelled(NamedTuple):
    """The fault for which a player was thrown out; `round` is that of the failed request."""

    kind: FaultKind
    error: str | None
    round: int


class Participant(NamedTuple):
    """A player of the game."""

    userid: int
    username: str
    died: int | None
    """The first round in which it has no living creature."""
    fault: Expelled | None


class Intent(NamedTuple):
    """What one creature shall do."""

    creatureid: int
    action: Literal["move", "attack"]
    direction: str


@dataclass(frozen=True, eq=False)
class State:
    """The configuration of a round. Creatures lie in ascending id; the columns are read-only."""

    round: int
    width: int
    height: int
    most_hp: int
    players: tuple[Participant, ...]
    """In ascending userid."""
    ids: Column
    owners: Column
    x: Column
    y: Column
    hp: Column
    max_rounds: int = 10_000
    """When the game is cut; no part of the world."""

    def __post_init__(self) -> None:
        """Lock the columns."""
        for column in (self.ids, self.owners, self.x, self.y, self.hp):
            column.flags.writeable = False

    @cached_property
    def index(self) -> dict[int, int]:
        """Creature id -> its place in the columns."""
        return {creature: place for place, creature in enumerate(self.ids.tolist())}

    @cached_property
    def living(self) -> frozenset[int]:
        """The userids of all players with a living creature."""
        return frozenset(self.owners[self.hp > 0].tolist())
