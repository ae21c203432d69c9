"""What a slot sees, and how it numbers the other slots (rule book, "Fog")."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from hashlib import sha256
from operator import or_
from typing import NamedTuple

from cw.games.code_battle.rules.state import Config, Slot, State
from cw.games.code_battle.rules.torus import Tile


class SeenCore(NamedTuple):
    """A visible core, with its owner as the observer numbers it."""

    tile: Tile
    owner: int
    active: bool


@dataclass(frozen=True, slots=True)
class View:
    """All that a slot sees in a turn; tuples are sorted, and the slot itself is owner 0."""

    config: Config
    turn: int
    energy: int
    """The energy that the slot holds."""
    score: int
    bots: tuple[tuple[Tile, int], ...]
    """Tile and owner of each visible bot."""
    nodes: tuple[Tile, ...]
    """The visible nodes that hold energy."""
    cores: tuple[SeenCore, ...]
    walls: tuple[Tile, ...]
    dead: tuple[tuple[Tile, int], ...]
    """Tile and owner of the bots that were seen to die in the previous turn."""


def view_of(state: State, slot: Slot) -> View:
    """Return the view of a slot."""
    owners = numbering(state.seed, slot, len(state.stats))
    seen = visible(state, slot)
    return View(
        config=state.config,
        turn=state.turn,
        energy=state.stats[slot].energy,
        score=state.stats[slot].score,
        bots=tuple(sorted((b.tile, owners[b.owner]) for b in state.bots if seen[b.tile] == "1")),
        nodes=tuple(sorted(n.tile for n in state.nodes if n.energy and seen[n.tile] == "1")),
        cores=tuple(
            sorted(
                SeenCore(core.tile, owners[core.owner], core.active)
                for core in state.cores
                if seen[core.tile] == "1"
            )
        ),
        walls=tuple([tile for tile in state.terrain.ordered_walls if seen[tile] == "1"]),
        dead=tuple(sorted((d.tile, owners[d.owner]) for d in state.dead if seen[d.tile] == "1")),
    )


def visible(state: State, slot: Slot) -> str:
    """Return a string with "1" at the index of each tile that a slot's bots see, "0" elsewhere.

    Views test many tiles: indexing a string takes constant time, while testing a bit of a large
    integer takes time proportional to its length.
    """
    torus = state.terrain.torus
    bit_discs = torus.bit_discs(state.config.vision_radius2)
    seen = reduce(or_, (bit_discs[bot.tile] for bot in state.bots if bot.owner == slot), 0)
    return f"{seen:0{torus.tiles}b}"[::-1]


@lru_cache(maxsize=256)
def numbering(seed: int, observer: Slot, slots: int) -> tuple[int, ...]:
    """Return the number by which an observer knows each slot; the observer itself is 0.

    The others are numbered from 1 in the order of hashes of the match's seed and both slots: fixed
    during the match, and different for each observer.
    """

    def key(slot: Slot) -> str:
        return sha256(f"{seed}.{observer}.{slot}".encode()).hexdigest()

    others = sorted((slot for slot in range(slots) if slot != observer), key=key)
    return tuple(0 if slot == observer else 1 + others.index(slot) for slot in range(slots))
