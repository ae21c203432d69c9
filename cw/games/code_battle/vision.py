"""Fog (document, "Fog"): what a slot may see, and by which number it knows the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from hashlib import sha256
from operator import or_
from typing import NamedTuple

from cw.games.code_battle.state import Config, Slot, State
from cw.games.code_battle.torus import Tile


class SeenCore(NamedTuple):
    """A core in sight."""

    tile: Tile
    owner: int
    active: bool


@dataclass(frozen=True, slots=True)
class View:
    """What a slot may know; all lists are sorted, and the slot itself is owner 0."""

    config: Config
    turn: int
    energy: int
    """Held by the slot."""
    score: int
    bots: tuple[tuple[Tile, int], ...]
    """Tile and owner."""
    nodes: tuple[Tile, ...]
    """Those that hold energy."""
    cores: tuple[SeenCore, ...]
    walls: tuple[Tile, ...]
    dead: tuple[tuple[Tile, int], ...]
    """Tile and owner of the bots that died in the turn before."""


def view_of(state: State, slot: Slot) -> View:
    """Return all that a slot sees."""
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
    """Return a text of "1" for each tile that a slot's living bots see, "0" for the others."""
    torus = state.terrain.torus
    sights = torus.sights(state.config.vision_radius2)
    seen = reduce(or_, (sights[bot.tile] for bot in state.bots if bot.owner == slot), 0)
    return f"{seen:0{torus.tiles}b}"[::-1]


@lru_cache(maxsize=256)
def numbering(seed: int, observer: Slot, slots: int) -> tuple[int, ...]:
    """Return the number by which an observer knows each slot; itself is 0."""

    def key(slot: Slot) -> str:
        return sha256(f"{seed}.{observer}.{slot}".encode()).hexdigest()

    others = sorted((slot for slot in range(slots) if slot != observer), key=key)
    return tuple(0 if slot == observer else 1 + others.index(slot) for slot in range(slots))
