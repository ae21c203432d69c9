"""The state of a match; all values are frozen, and states share the unchanged ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from cw.games.code_battle.rules.torus import Direction, Tile, Torus, torus

Slot: TypeAlias = int
"""The number of a player in the match, from 0."""


class Config(NamedTuple):
    """The settings of a match, included in every view."""

    rows: int
    cols: int
    max_turns: int
    vision_radius2: int
    attack_radius2: int
    spawn_cost: int
    energy_interval: int


class Bot(NamedTuple):
    """A living unit."""

    id: int
    tile: Tile
    owner: Slot


class Core(NamedTuple):
    """A tile that spawns bots: active until it is captured, then razed for good."""

    id: int
    tile: Tile
    owner: Slot
    active: bool
    last_spawn: int
    """The number of turns played when it last spawned; 0 for never."""


class Node(NamedTuple):
    """A tile on which energy appears."""

    tile: Tile
    energy: bool
    timer: int
    """The turns since it became empty; 0 while it holds energy."""


class PlayerStats(NamedTuple):
    """The counts of one slot."""

    energy: int = 0
    collected: int = 0
    score: int = 0
    eliminated: int = 0
    dominant_turns: int = 0
    failures: int = 0
    """Faults in a row."""
    crashed: bool = False
    """Whether it is no longer asked, after too many faults."""


class Death(NamedTuple):
    """A bot that died in the last turn."""

    tile: Tile
    owner: Slot


class Capture(NamedTuple):
    """A core that was razed in the last turn, by the bot of slot `by`."""

    tile: Tile
    by: Slot
    owner: Slot


@dataclass(frozen=True)
class Terrain:
    """The grid and its walls: the same object in all states of a match."""

    rows: int
    cols: int
    walls: tuple[Tile, ...]

    @cached_property
    def blocked(self) -> frozenset[Tile]:
        """The walls as a set."""
        return frozenset(self.walls)

    @cached_property
    def ordered_walls(self) -> tuple[Tile, ...]:
        """The walls in ascending order."""
        return tuple(sorted(self.blocked))

    @cached_property
    def torus(self) -> Torus:
        """The tables of this grid size."""
        return torus(self.rows, self.cols)


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a turn for the exported replay; deaths are part of the state."""

    moves: Mapping[Slot, tuple[tuple[Tile, Direction], ...]] = field(default_factory=dict)
    """The orders that moved a bot, by slot: the tile it left, and the direction."""
    captures: tuple[Capture, ...] = ()
    collected: Mapping[Slot, tuple[Tile, ...]] = field(default_factory=dict)
    destroyed: tuple[Tile, ...] = ()
    spawns: tuple[tuple[Tile, Slot], ...] = ()
    energized: tuple[Tile, ...] = ()
    """The nodes at which energy appeared."""


@dataclass(frozen=True, slots=True)
class State:
    """The whole state after `turn` turns."""

    config: Config
    terrain: Terrain
    turn: int
    nodes: tuple[Node, ...]
    cores: tuple[Core, ...]
    bots: tuple[Bot, ...]
    """In ascending id."""
    next_bot_id: int
    stats: tuple[PlayerStats, ...]
    """By slot."""
    dead: tuple[Death, ...] = ()
    """The deaths of the last turn, sorted."""
    seed: int = 0
    """The seed of the match, which determines how players number each other."""
    events: Events = field(default=Events(), compare=False)
    """The events of the last turn; not part of the position."""

    @property
    def living(self) -> frozenset[Slot]:
        """The slots that have a living bot."""
        return frozenset(bot.owner for bot in self.bots)


Condition: TypeAlias = Literal["sole_survivor", "annihilation", "dominance", "turn_limit"]
"""How a match ends (rule book, "End")."""
