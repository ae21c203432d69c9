"""What a player of Code Battle remembers: each view shows only what is in sight."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Final

from cw.games.code_battle.paths import Field, Steps, bits
from cw.games.code_battle.torus import Tile, torus
from cw.games.code_battle.vision import SeenCore, View

LATTICE: Final = 5
"""Tiles between the goals of exploration, both ways."""


class Knowledge:
    """All that was seen in a match so far."""

    def __init__(self, view: View) -> None:
        """Know nothing but the settings."""
        self.config = view.config
        self.torus = torus(view.config.rows, view.config.cols)
        self.steps = Steps(self.torus)
        self.walls = 0
        self.explored = 0
        """All tiles that were ever in sight."""
        self.energy: set[Tile] = set()
        """Where energy was when the tile was last seen."""
        self.nodes: set[Tile] = set()
        """Where energy was ever seen: it comes back there."""
        self.cores: dict[Tile, SeenCore] = {}
        self.seen: dict[Tile, int] = {
            row * view.config.cols + col: -1000
            for row in range(0, view.config.rows, LATTICE)
            for col in range(0, view.config.cols, LATTICE)
        }
        """Goal of exploration -> the turn in which it was last in sight."""

    def update(self, view: View) -> None:
        """Take in a view."""
        sights = self.torus.sights(self.config.vision_radius2)
        visible = reduce(or_, (sights[tile] for tile, owner in view.bots if owner == 0), 0)
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
        """Return the active cores of others, or the own ones, that are known."""
        return sorted(
            tile for tile, core in self.cores.items() if core.active and (core.owner > 0) == enemy
        )

    def field(self, goals: int) -> Field:
        """Return the ways to some goals round the known walls."""
        return Field(self.torus, self.walls, goals)
