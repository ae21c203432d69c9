"""The state of a match; all values are immutable, and states share the unchanged ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from cw.errors import short
from cw.games.rules import Json

Tile: TypeAlias = int
"""row * cols + col; rows grow downwards (south), columns to the right (east), both from 0."""

Direction: TypeAlias = Literal["N", "E", "S", "W"]

DIRECTIONS: Final[dict[Direction, tuple[int, int]]] = {
    "N": (-1, 0),
    "E": (0, 1),
    "S": (1, 0),
    "W": (0, -1),
}
"""Change of row and of column."""


class Discs(dict[Tile, tuple[Tile, ...]]):
    """Tile -> all tiles within a squared distance; entries are computed on first access."""

    def __init__(self, torus: Torus, radius2: int) -> None:
        """Initialize an empty cache, with the offsets that all discs share."""
        super().__init__()
        self.torus = torus
        self.offsets = [
            (down, right)
            for down in torus.spans(torus.rows)
            for right in torus.spans(torus.cols)
            if down * down + right * right <= radius2
        ]

    def __missing__(self, tile: Tile) -> tuple[Tile, ...]:
        """Compute, store and return the disc of a tile."""
        rows, cols = self.torus.rows, self.torus.cols
        row, col = divmod(tile, cols)
        disc = tuple(
            (row + down) % rows * cols + (col + right) % cols for down, right in self.offsets
        )
        self[tile] = disc
        return disc


class BitDiscs(dict[Tile, int]):
    """Tile -> bitset of the tiles within a squared distance; entries are computed on first access.

    The tiles that several bots see are the OR of their discs.
    """

    def __init__(self, discs: Discs) -> None:
        """Initialize an empty cache."""
        super().__init__()
        self.discs = discs

    def __missing__(self, tile: Tile) -> int:
        """Compute, store and return the bitset of a tile's disc."""
        self[tile] = bits = sum(1 << seen for seen in self.discs[tile])
        return bits


class Torus:
    """The lookup tables of a grid size."""

    def __init__(self, rows: int, cols: int) -> None:
        """Create a torus of rows x cols tiles."""
        self.rows = rows
        self.cols = cols
        self.tiles = rows * cols
        self._discs: dict[int, Discs] = {}
        self._bit_discs: dict[int, BitDiscs] = {}

    @staticmethod
    def spans(length: int) -> range:
        """Return the offsets from a tile along an axis, each tile once, by the shorter way around.

        If both ways are equally long, only the positive offset is included, so that no tile is in a
        disc twice.
        """
        return range(-((length - 1) // 2), length // 2 + 1)

    @cached_property
    def ahead(self) -> dict[Direction, list[Tile]]:
        """Direction -> tile -> the next tile in that direction."""
        rows, cols = self.rows, self.cols
        return {
            direction: [
                (row + down) % rows * cols + (col + right) % cols
                for row in range(rows)
                for col in range(cols)
            ]
            for direction, (down, right) in DIRECTIONS.items()
        }

    @cached_property
    def down2(self) -> list[int]:
        """Row difference -> square of the shorter distance around the torus.

        A negative difference indexes from the end of the list, which is the other way around.
        """
        return [min(n, self.rows - n) ** 2 for n in range(self.rows)]

    @cached_property
    def right2(self) -> list[int]:
        """Column difference -> square of the shorter distance around; negative ones work too."""
        return [min(n, self.cols - n) ** 2 for n in range(self.cols)]

    def discs(self, radius2: int) -> Discs:
        """Return the discs of a squared radius."""
        if radius2 not in self._discs:
            self._discs[radius2] = Discs(self, radius2)
        return self._discs[radius2]

    def bit_discs(self, radius2: int) -> BitDiscs:
        """Return the discs of a squared radius as bitsets."""
        if radius2 not in self._bit_discs:
            self._bit_discs[radius2] = BitDiscs(Discs(self, radius2))
        return self._bit_discs[radius2]

    def distance2(self, a: Tile, b: Tile) -> int:
        """Return the squared distance between two tiles: d2 of the rule book."""
        down, right = a // self.cols - b // self.cols, a % self.cols - b % self.cols
        return self.down2[down] + self.right2[right]


@lru_cache(maxsize=8)
def torus(rows: int, cols: int) -> Torus:
    """Return the torus of a size; the most recent ones are cached with their tables."""
    return Torus(rows, cols)


Slot: TypeAlias = int
"""A player's number in the match, from 0."""


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
    """A tile that spawns bots: active until it is captured, then razed permanently."""

    id: int
    tile: Tile
    owner: Slot
    active: bool
    last_spawn: int
    """The number of turns played when it last spawned a bot; 0 for never."""


class Node(NamedTuple):
    """A tile on which energy appears."""

    tile: Tile
    energy: bool
    timer: int
    """The number of turns since it became empty; 0 while it holds energy."""


class PlayerStats(NamedTuple):
    """The statistics of one slot."""

    energy: int = 0
    collected: int = 0
    score: int = 0
    eliminated: int = 0
    dominant_turns: int = 0
    failures: int = 0
    """The number of consecutive faults."""
    crashed: bool = False
    """Whether the slot is no longer asked, after too many faults."""


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
    """The living bots, by ascending id."""
    next_bot_id: int
    stats: tuple[PlayerStats, ...]
    """The statistics by slot."""
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


Orders: TypeAlias = Mapping[Tile, Direction]
"""The tile of a bot -> the direction in which it moves."""


def read_orders(state: State, slot: Slot, entries: list[Json]) -> tuple[Orders, list[str]]:
    """Return the orders in a reply, and a message for each entry that is not a usable order."""
    bots = {bot.tile for bot in state.bots if bot.owner == slot}
    orders: dict[Tile, Direction] = {}
    wrong = []
    for number, entry in enumerate(entries):
        reason = why_unusable(state, bots, orders, entry)
        if reason:
            wrong.append(f"moves[{number}]: {reason}")
        else:
            orders[cast(Tile, tile_of(state, entry))] = entry["direction"]
    return orders, wrong


def why_unusable(state: State, bots: set[Tile], orders: Orders, entry: Json) -> str | None:
    """Return why an entry is not a usable order, or None if it is."""
    if not isinstance(entry, dict):
        return f"must be an object, not {short(entry)}"
    tile = tile_of(state, entry)
    if tile is None:
        return "has neither row and col nor position with two whole numbers on the grid"
    if tile not in bots:
        return f"you have no bot on [{tile // state.config.cols}, {tile % state.config.cols}]"
    direction = entry.get("direction")
    if not isinstance(direction, str) or direction not in DIRECTIONS:
        return f"direction must be N, E, S or W, not {short(direction)}"
    if tile in orders:
        return "an earlier entry has already moved this bot"
    return None


def tile_of(state: State, entry: Mapping[str, Json]) -> Tile | None:
    """Return the tile that an entry names, directly or in `position`, or None if off the grid."""
    for place in (entry, entry.get("position")):
        if isinstance(place, dict):
            row, col = place.get("row"), place.get("col")
            if type(row) is int and type(col) is int:
                config = state.config
                inside = 0 <= row < config.rows and 0 <= col < config.cols
                return row * config.cols + col if inside else None
    return None


def write_orders(state: State, orders: Orders) -> Iterator[dict[str, Json]]:
    """Yield the entries of a reply with these orders."""
    cols = state.config.cols
    for tile, direction in orders.items():
        yield {"row": tile // cols, "col": tile % cols, "direction": direction}
