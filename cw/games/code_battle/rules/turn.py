"""A turn: seven phases that build the next state, in order (rule book, "A turn")."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from hashlib import sha256
from operator import or_
from typing import Final, NamedTuple

from cw.games.code_battle.rules.state import (
    Bot,
    Capture,
    Condition,
    Config,
    Death,
    Direction,
    Events,
    Node,
    Orders,
    PlayerStats,
    Slot,
    State,
    Tile,
)

DOMINANT_TURNS: Final = 100
"""Consecutive turns of dominance that win the match (rule book, "End")."""

BESIDE: Final = 2
"""Squared radius of the 3 x 3 tiles within which bots collect a node's energy."""


class TurnBuilder:
    """Builds the state after a turn, phase by phase, and collects its events."""

    def __init__(self, state: State, orders: Mapping[Slot, Orders]) -> None:
        """Start with the state before the turn."""
        self.before = state
        self.orders = orders
        self.turn = state.turn + 1
        self.bots = state.bots
        self.cores = list(state.cores)
        self.nodes = list(state.nodes)
        self.next_bot_id = state.next_bot_id
        self.energy = [stats.energy for stats in state.stats]
        self.collected = [stats.collected for stats in state.stats]
        self.score = [stats.score for stats in state.stats]
        self.eliminated = [stats.eliminated for stats in state.stats]
        self.dominant_turns = [stats.dominant_turns for stats in state.stats]
        self.dead: list[Death] = []
        self.moves: dict[Slot, list[tuple[Tile, Direction]]] = defaultdict(list)
        self.captures: list[Capture] = []
        self.collected_tiles: dict[Slot, list[Tile]] = defaultdict(list)
        self.destroyed: list[Tile] = []
        self.spawns: list[tuple[Tile, Slot]] = []
        self.energized: list[Tile] = []

    def remove(self, dead: Collection[Bot]) -> None:
        """Remove dead bots, and record where they died."""
        if dead:
            ids = {bot.id for bot in dead}
            self.bots = tuple(bot for bot in self.bots if bot.id not in ids)
            self.dead += [Death(bot.tile, bot.owner) for bot in dead]

    def bots_by_tile(self) -> dict[Tile, Bot]:
        """Return the bots by tile; after COMBAT no two share a tile."""
        return {bot.tile: bot for bot in self.bots}

    def finished(self) -> State:
        """Return the state after the turn."""
        before = self.before
        return State(
            config=before.config,
            terrain=before.terrain,
            turn=self.turn,
            nodes=tuple(self.nodes),
            cores=tuple(self.cores),
            bots=self.bots,
            next_bot_id=self.next_bot_id,
            stats=tuple(self.stats(slot) for slot in range(len(before.stats))),
            dead=tuple(sorted(self.dead)),
            seed=before.seed,
            events=self.events(),
        )

    def stats(self, slot: Slot) -> PlayerStats:
        """Return a slot's statistics after the turn; its faults have already been counted."""
        return self.before.stats[slot]._replace(
            energy=self.energy[slot],
            collected=self.collected[slot],
            score=self.score[slot],
            eliminated=self.eliminated[slot],
            dominant_turns=self.dominant_turns[slot],
        )

    def events(self) -> Events:
        """Return the events of the turn."""
        return Events(
            moves={slot: tuple(moves) for slot, moves in self.moves.items()},
            captures=tuple(self.captures),
            collected={slot: tuple(tiles) for slot, tiles in self.collected_tiles.items()},
            destroyed=tuple(self.destroyed),
            spawns=tuple(self.spawns),
            energized=tuple(self.energized),
        )


def move(builder: TurnBuilder) -> None:
    """MOVE: move all bots simultaneously, then resolve all collisions together (rule 2)."""
    standing = builder.before.bots
    ahead, blocked = builder.before.terrain.torus.ahead, builder.before.terrain.blocked
    moved = []
    targets = set()
    for bot in standing:
        # Orders refer to tiles: an order for a tile without an own bot has no effect.
        way = builder.orders.get(bot.owner, {}).get(bot.tile)
        target = bot.tile if way is None else ahead[way][bot.tile]
        if way is not None and target not in blocked:
            builder.moves[bot.owner].append((bot.tile, way))
            moved.append(bot._replace(tile=target))
        else:
            moved.append(bot)
        targets.add(moved[-1].tile)
    builder.bots = tuple(moved)
    if len(targets) < len(moved):
        collide(builder, {bot.id: bot.tile for bot in standing})


def collide(builder: TurnBuilder, came_from: Mapping[int, Tile]) -> None:
    """Remove friends that meet, and bots that stood where enemies moved, with those enemies.

    `came_from` maps a bot's id to its tile before the move.
    """
    meetings: dict[Tile, list[Bot]] = defaultdict(list)
    for bot in builder.bots:
        meetings[bot.tile].append(bot)
    dead: set[Bot] = set()
    for tile, bots in meetings.items():
        if len(bots) > 1:
            friends = Counter(bot.owner for bot in bots)
            dead.update(bot for bot in bots if friends[bot.owner] > 1)
            # No two bots start on the same tile, so at most one of them stood there.
            standing = next((bot for bot in bots if came_from[bot.id] == tile), None)
            if standing is not None:
                dead.update(run_into(builder, standing, bots))
    builder.remove(dead)


def run_into(builder: TurnBuilder, standing: Bot, bots: list[Bot]) -> set[Bot]:
    """Return a standing bot and the enemies that moved onto it, and count the eliminations.

    Returns an empty set if only friends did.
    """
    enemies = [bot for bot in bots if bot.owner != standing.owner]
    builder.eliminated[standing.owner] += len(enemies)
    for owner in {bot.owner for bot in enemies}:
        builder.eliminated[owner] += 1
    return {standing, *enemies} if enemies else set()


def combat(builder: TurnBuilder) -> None:
    """COMBAT: remove bots with an enemy in reach that has at most as many enemies (rule 3)."""
    bots_at: dict[Tile, list[Bot]] = defaultdict(list)
    for bot in builder.bots:
        bots_at[bot.tile].append(bot)
    reach = builder.before.terrain.torus.discs(builder.before.config.attack_radius2)
    enemies = {}
    for bot in builder.bots:
        near = [
            enemy
            for tile in reach[bot.tile]
            if tile in bots_at
            for enemy in bots_at[tile]
            if enemy.owner != bot.owner
        ]
        if near:
            enemies[bot] = near
    # Reach is mutual, so every enemy of a bot has its own entry.
    dead = []
    for bot, near in enemies.items():
        # All deaths are judged on the board before combat, and removed together.
        killers = {enemy.owner for enemy in near if len(enemies[enemy]) <= len(near)}
        if killers:
            dead.append(bot)
            for slot in killers:
                builder.eliminated[slot] += 1
    builder.remove(dead)


def capture(builder: TurnBuilder) -> None:
    """CAPTURE: raze the active cores on which bots of other owners stand (rule 4)."""
    bot_at = builder.bots_by_tile()
    for number, core in enumerate(builder.cores):
        bot = bot_at.get(core.tile)
        if bot is not None and core.active and bot.owner != core.owner:
            builder.cores[number] = core._replace(active=False)
            builder.score[bot.owner] += 2
            builder.score[core.owner] -= 1
            builder.captures.append(Capture(core.tile, bot.owner, core.owner))


def collect(builder: TurnBuilder) -> None:
    """COLLECT: energy goes to the only owner next to it; several owners destroy it (rule 5)."""
    bot_at = builder.bots_by_tile()
    beside = builder.before.terrain.torus.discs(BESIDE)
    for number, node in enumerate(builder.nodes):
        if node.energy:
            owners = {bot_at[tile].owner for tile in beside[node.tile] if tile in bot_at}
            if owners:
                builder.nodes[number] = Node(node.tile, energy=False, timer=0)
                if len(owners) == 1:
                    credit(builder, owners.pop(), node.tile)
                else:
                    builder.destroyed.append(node.tile)


def credit(builder: TurnBuilder, slot: Slot, tile: Tile) -> None:
    """Credit the energy of a node to a slot."""
    builder.energy[slot] += 1
    builder.collected[slot] += 1
    builder.collected_tiles[slot].append(tile)


def spawn(builder: TurnBuilder) -> None:
    """SPAWN: make bots on free active cores, longest idle first, while energy lasts (rule 6)."""
    occupied = {bot.tile for bot in builder.bots}
    cost = builder.before.config.spawn_cost
    # Sort by slot first: ids of new bots must not depend on the order of cores in the map.
    free = sorted(
        (core.owner, core.last_spawn, core.id, number)
        for number, core in enumerate(builder.cores)
        if core.active and core.tile not in occupied and builder.energy[core.owner] >= cost
    )
    for owner, _, _, number in free:
        if builder.energy[owner] >= cost:
            builder.energy[owner] -= cost
            core = builder.cores[number]
            builder.cores[number] = core._replace(last_spawn=builder.turn)
            builder.bots += (Bot(builder.next_bot_id, core.tile, owner),)
            builder.next_bot_id += 1
            builder.spawns.append((core.tile, owner))


def energy_tick(builder: TurnBuilder) -> None:
    """ENERGY_TICK: advance the timers of empty nodes; at the interval they hold energy (rule 7)."""
    interval = builder.before.config.energy_interval
    for number, node in enumerate(builder.nodes):
        if not node.energy:
            full = node.timer + 1 >= interval
            builder.nodes[number] = Node(node.tile, full, 0 if full else node.timer + 1)
            if full:
                builder.energized.append(node.tile)


def endgame(builder: TurnBuilder) -> None:
    """ENDGAME: count dominant turns, and add the bonus of a sole survivor (rule 8)."""
    bots = Counter(bot.owner for bot in builder.bots)
    total = bots.total()
    for slot, turns in enumerate(builder.dominant_turns):
        # At least 80 %, in integers to avoid rounding.
        dominant = total > 0 and 5 * bots[slot] >= 4 * total
        builder.dominant_turns[slot] = turns + 1 if dominant else 0
    if len(bots) == 1:
        (survivor,) = bots
        enemies = sum(core.active and core.owner != survivor for core in builder.cores)
        builder.score[survivor] += 2 * enemies


PHASES: Final[tuple[Callable[[TurnBuilder], None], ...]] = (
    move,
    combat,
    capture,
    collect,
    spawn,
    energy_tick,
    endgame,
)
"""The phases of a turn, in order."""


def play_turn(state: State, orders: Mapping[Slot, Orders]) -> State:
    """Return the state after a turn; bots without an order hold."""
    builder = TurnBuilder(state, orders)
    for phase in PHASES:
        phase(builder)
    return builder.finished()


def condition(state: State) -> Condition | None:
    """Return the first condition that ends the match (rule book, "End"), or None."""
    living = len(state.living)
    if living < 2:
        return "sole_survivor" if living else "annihilation"
    if any(stats.dominant_turns >= DOMINANT_TURNS for stats in state.stats):
        return "dominance"
    return "turn_limit" if state.turn >= state.config.max_turns else None


class SeenCore(NamedTuple):
    """A visible core, with its owner as the observer numbers it."""

    tile: Tile
    owner: int
    active: bool


@dataclass(frozen=True, slots=True)
class View:
    """Everything that a slot sees in a turn; tuples are sorted, and the slot itself is owner 0."""

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
