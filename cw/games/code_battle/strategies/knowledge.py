"""What a strategy remembers of earlier views, since each shows only what is in sight."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Final

from cw.games.code_battle.rules.torus import Tile, torus
from cw.games.code_battle.rules.vision import SeenCore, View
from cw.games.code_battle.strategies.paths import DistanceField, TorusDistance, bits

LATTICE: Final = 5
"""The spacing, in rows and columns, of the tiles that are explored."""

MOST_FIELDS: Final = 128
"""Distance fields to cache: on a large map each takes up to 0.3 MB."""


class Knowledge:
    """What a slot has seen of a match so far."""

    def __init__(self, view: View) -> None:
        """Start with the settings of the match only."""
        self.config = view.config
        self.torus = torus(view.config.rows, view.config.cols)
        self.steps = TorusDistance(self.torus)
        self.walls = 0
        self.explored = 0
        """The tiles that have ever been in sight, as a bitset."""
        self.energy: set[Tile] = set()
        """The tiles that held energy when last seen."""
        self.nodes: set[Tile] = set()
        """The tiles that have ever held energy: it reappears there."""
        self.cores: dict[Tile, SeenCore] = {}
        self.seen: dict[Tile, int] = {
            row * view.config.cols + col: -1000
            for row in range(0, view.config.rows, LATTICE)
            for col in range(0, view.config.cols, LATTICE)
        }
        """Tile to explore -> the turn in which it was last in sight; far in the past if never."""
        self._fields: dict[int, DistanceField] = {}
        """Goals -> the distances to them; most goals stay the same for many turns."""
        self._fields_walls = 0
        """The walls for which the distances were computed."""

    def update(self, view: View) -> None:
        """Add the contents of a view."""
        bit_discs = self.torus.bit_discs(self.config.vision_radius2)
        visible = reduce(or_, (bit_discs[tile] for tile, owner in view.bots if owner == 0), 0)
        self.explored |= visible
        self.walls |= bits(view.walls)
        self.energy = {tile for tile in self.energy if not visible >> tile & 1}
        self.energy.update(view.nodes)
        self.nodes.update(view.nodes)
        self.cores.update((core.tile, core) for core in view.cores)
        for goal in self.seen:
            if visible >> goal & 1:
                self.seen[goal] = view.turn

    def cores_of(self, *, enemy: bool) -> list[Tile]:
        """Return the known active cores of the enemies, or the slot's own, in ascending order."""
        return sorted(
            tile for tile, core in self.cores.items() if core.active and (core.owner > 0) == enemy
        )

    def distance_field(self, goals: int) -> DistanceField:
        """Return the distances to a bitset of goals, around known walls."""
        if self._fields_walls != self.walls or len(self._fields) >= MOST_FIELDS:
            self._fields, self._fields_walls = {}, self.walls
        if goals not in self._fields:
            self._fields[goals] = DistanceField(self.torus, self.walls, goals)
        return self._fields[goals]
