"""A turn (document, "Rules"): seven phases, in their order, on a draft of the next state."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Final

from cw.games.code_battle.orders import Orders
from cw.games.code_battle.state import (
    Bot,
    Capture,
    Condition,
    Death,
    Events,
    Node,
    PlayerStats,
    Slot,
    State,
)
from cw.games.code_battle.torus import Direction, Tile

DOMINANT_TURNS: Final = 100
BESIDE: Final = 2
"""Squared radius of the neighbourhood from which energy is collected."""


class Draft:
    """The state that a turn is making, and what has happened in it so far."""

    def __init__(self, state: State, orders: Mapping[Slot, Orders]) -> None:
        """Begin with the state before the turn."""
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
        self.gathered: dict[Slot, list[Tile]] = defaultdict(list)
        self.destroyed: list[Tile] = []
        self.spawns: list[tuple[Tile, Slot]] = []
        self.energized: list[Tile] = []

    def bury(self, dead: Collection[Bot]) -> None:
        """Take away bots that have died where they are now."""
        if dead:
            gone = {bot.id for bot in dead}
            self.bots = tuple(bot for bot in self.bots if bot.id not in gone)
            self.dead += [Death(bot.tile, bot.owner) for bot in dead]

    def at(self) -> dict[Tile, Bot]:
        """Return the bots by tile; after COMBAT no two share one."""
        return {bot.tile: bot for bot in self.bots}

    def finished(self) -> State:
        """Return the state after the turn; counts of failures are not the turn's."""
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
        """Return the counts of a slot after the turn."""
        return self.before.stats[slot]._replace(
            energy=self.energy[slot],
            collected=self.collected[slot],
            score=self.score[slot],
            eliminated=self.eliminated[slot],
            dominant_turns=self.dominant_turns[slot],
        )

    def events(self) -> Events:
        """Return what happened."""
        return Events(
            moves={slot: tuple(moves) for slot, moves in self.moves.items()},
            captures=tuple(self.captures),
            collected={slot: tuple(tiles) for slot, tiles in self.gathered.items()},
            destroyed=tuple(self.destroyed),
            spawns=tuple(self.spawns),
            energized=tuple(self.energized),
        )


def move(draft: Draft) -> None:
    """MOVE: all bots go at once; then collisions are judged, all at once (rule 2)."""
    standing = draft.before.bots
    ahead, blocked = draft.before.terrain.torus.ahead, draft.before.terrain.blocked
    moved = []
    targets = set()
    for bot in standing:
        way = draft.orders.get(bot.owner, {}).get(bot.tile)
        target = bot.tile if way is None else ahead[way][bot.tile]
        if way is not None and target not in blocked:
            draft.moves[bot.owner].append((bot.tile, way))
            moved.append(bot._replace(tile=target))
        else:
            moved.append(bot)
        targets.add(moved[-1].tile)
    draft.bots = tuple(moved)
    if len(targets) < len(moved):
        collide(draft, {bot.id: bot.tile for bot in standing})


def collide(draft: Draft, came_from: Mapping[int, Tile]) -> None:
    """Bury the friends that meet, and standing bots with the enemies that run into them."""
    meetings: dict[Tile, list[Bot]] = defaultdict(list)
    for bot in draft.bots:
        meetings[bot.tile].append(bot)
    dead: set[Bot] = set()
    for tile, met in meetings.items():
        if len(met) > 1:
            friends = Counter(bot.owner for bot in met)
            dead.update(bot for bot in met if friends[bot.owner] > 1)
            standing = next((bot for bot in met if came_from[bot.id] == tile), None)
            if standing is not None:
                dead.update(run_into(draft, standing, met))
    draft.bury(dead)


def run_into(draft: Draft, standing: Bot, met: list[Bot]) -> set[Bot]:
    """Return a standing bot and the enemies that moved onto it, and count them."""
    enemies = [bot for bot in met if bot.owner != standing.owner]
    draft.eliminated[standing.owner] += len(enemies)
    for owner in {bot.owner for bot in enemies}:
        draft.eliminated[owner] += 1
    return {standing, *enemies} if enemies else set()


def combat(draft: Draft) -> None:
    """COMBAT: a bot dies if an enemy within reach has no more enemies than itself (rule 3)."""
    at: dict[Tile, list[Bot]] = defaultdict(list)
    for bot in draft.bots:
        at[bot.tile].append(bot)
    reach = draft.before.terrain.torus.discs(draft.before.config.attack_radius2)
    enemies = {}
    for bot in draft.bots:
        near = [
            enemy
            for tile in reach[bot.tile]
            if tile in at
            for enemy in at[tile]
            if enemy.owner != bot.owner
        ]
        if near:
            enemies[bot] = near
    dead = []
    for bot, near in enemies.items():
        killers = {enemy.owner for enemy in near if len(enemies[enemy]) <= len(near)}
        if killers:
            dead.append(bot)
            for slot in killers:
                draft.eliminated[slot] += 1
    draft.bury(dead)


def capture(draft: Draft) -> None:
    """CAPTURE: a bot on an active core of another owner razes it (rule 4)."""
    at = draft.at()
    for number, core in enumerate(draft.cores):
        bot = at.get(core.tile)
        if bot is not None and core.active and bot.owner != core.owner:
            draft.cores[number] = core._replace(active=False)
            draft.score[bot.owner] += 2
            draft.score[core.owner] -= 1
            draft.captures.append(Capture(core.tile, bot.owner, core.owner))


def collect(draft: Draft) -> None:
    """COLLECT: energy goes to the one owner beside it, or is lost between several (rule 5)."""
    at = draft.at()
    beside = draft.before.terrain.torus.discs(BESIDE)
    for number, node in enumerate(draft.nodes):
        if node.energy:
            owners = {at[tile].owner for tile in beside[node.tile] if tile in at}
            if owners:
                draft.nodes[number] = Node(node.tile, energy=False, timer=0)
                if len(owners) == 1:
                    gather(draft, owners.pop(), node.tile)
                else:
                    draft.destroyed.append(node.tile)


def gather(draft: Draft, slot: Slot, tile: Tile) -> None:
    """Return the energy of a node to a slot."""
    draft.energy[slot] += 1
    draft.collected[slot] += 1
    draft.gathered[slot].append(tile)


def spawn(draft: Draft) -> None:
    """SPAWN: each slot pays for bots on its free active cores, the longest idle first (rule 6)."""
    taken = {bot.tile for bot in draft.bots}
    cost = draft.before.config.spawn_cost
    free = sorted(
        (core.owner, core.last_spawn, core.id, number)
        for number, core in enumerate(draft.cores)
        if core.active and core.tile not in taken and draft.energy[core.owner] >= cost
    )
    for owner, _, _, number in free:
        if draft.energy[owner] >= cost:
            draft.energy[owner] -= cost
            core = draft.cores[number]
            draft.cores[number] = core._replace(last_spawn=draft.turn)
            draft.bots += (Bot(draft.next_bot_id, core.tile, owner),)
            draft.next_bot_id += 1
            draft.spawns.append((core.tile, owner))


def energy_tick(draft: Draft) -> None:
    """ENERGY_TICK: empty nodes count up to the interval, then hold energy again (rule 7)."""
    interval = draft.before.config.energy_interval
    for number, node in enumerate(draft.nodes):
        if not node.energy:
            full = node.timer + 1 >= interval
            draft.nodes[number] = Node(node.tile, full, 0 if full else node.timer + 1)
            if full:
                draft.energized.append(node.tile)


def endgame(draft: Draft) -> None:
    """ENDGAME: count dominance, and give the sole survivor its bonus (rule 8)."""
    own = Counter(bot.owner for bot in draft.bots)
    everybody = own.total()
    for slot, turns in enumerate(draft.dominant_turns):
        dominant = everybody > 0 and 5 * own[slot] >= 4 * everybody
        draft.dominant_turns[slot] = turns + 1 if dominant else 0
    if len(own) == 1:
        (survivor,) = own
        enemies = sum(core.active and core.owner != survivor for core in draft.cores)
        draft.score[survivor] += 2 * enemies


PHASES: Final[tuple[Callable[[Draft], None], ...]] = (
    move,
    combat,
    capture,
    collect,
    spawn,
    energy_tick,
    endgame,
)


def play_turn(state: State, orders: Mapping[Slot, Orders]) -> State:
    """Return the state after a turn; bots without an order hold."""
    draft = Draft(state, orders)
    for phase in PHASES:
        phase(draft)
    return draft.finished()


def condition(state: State) -> Condition | None:
    """Tell which condition ends the match, None while it goes on; the first that holds counts."""
    living = len(state.living)
    if living < 2:
        return "sole_survivor" if living else "annihilation"
    if any(stats.dominant_turns >= DOMINANT_TURNS for stats in state.stats):
        return "dominance"
    return "turn_limit" if state.turn >= state.config.max_turns else None
