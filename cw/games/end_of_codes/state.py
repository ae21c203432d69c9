"""The state of a game: a round's creatures as columns of numbers, and its players."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from cw.errors import FaultKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Column: TypeAlias = "NDArray[np.int64]"
"""A number for each creature."""

DIRECTIONS: Final = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}
"""Change of x and of y; y grows to the north."""


class Expelled(NamedTuple):
    """The fault for which a player was thrown out, and the round of the failed request."""

    kind: FaultKind
    error: str | None
    round: int


class PlayerState(NamedTuple):
    """A player of the game."""

    userid: int
    username: str
    died: int | None
    """The first round in which it has no living creature, or None while it is alive."""
    fault: Expelled | None


class Intent(NamedTuple):
    """The order to one creature."""

    creatureid: int
    action: Literal["move", "attack"]
    direction: str


@dataclass(frozen=True, eq=False)
class State:
    """A round. The columns are sorted by creature id, and read-only."""

    round: int
    width: int
    height: int
    most_hp: int
    players: tuple[PlayerState, ...]
    """The players by ascending userid."""
    ids: Column
    owners: Column
    x: Column
    y: Column
    hp: Column
    max_rounds: int = 10_000
    """The round at which the game ends at the latest; not part of a state's JSON."""

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        for column in (self.ids, self.owners, self.x, self.y, self.hp):
            column.flags.writeable = False

    @cached_property
    def index(self) -> dict[int, int]:
        """Creature id -> its index in the columns."""
        return {creature: place for place, creature in enumerate(self.ids.tolist())}

    @cached_property
    def living(self) -> frozenset[int]:
        """The userids of all players with a living creature."""
        return frozenset(self.owners[self.hp > 0].tolist())
