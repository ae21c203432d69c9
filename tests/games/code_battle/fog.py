"""Changes of a position that a slot cannot see."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from cw.games.code_battle.rules.state import Bot, Core, Death, Node, Slot, State, Terrain


def hidden_tiles(state: State, slot: Slot) -> list[int]:
    """Return the tiles out of sight, found pair by pair."""
    torus, radius2 = state.terrain.torus, state.config.vision_radius2
    own = [bot.tile for bot in state.bots if bot.owner == slot]
    return [
        tile
        for tile in range(torus.tiles)
        if all(torus.distance2(tile, bot) > radius2 for bot in own)
    ]


def alter_unseen(state: State, slot: Slot, rng: Random) -> State:
    """Put other walls, nodes, cores, bots and deaths out of sight, and fill the others' purses."""
    hidden = hidden_tiles(state, slot)
    unseen = set(hidden)
    rng.shuffle(hidden)
    places = iter(hidden)
    others = [other for other in range(len(state.stats)) if other != slot]
    ids = state.next_bot_id
    count = min(3, len(hidden) // 6)
    return replace(
        state,
        terrain=Terrain(
            state.terrain.rows,
            state.terrain.cols,
            (
                *(tile for tile in state.terrain.walls if tile not in unseen),
                *(next(places) for _ in range(count)),
            ),
        ),
        nodes=(
            *(node for node in state.nodes if node.tile not in unseen),
            *(Node(next(places), energy=True, timer=0) for _ in range(count)),
        ),
        cores=(
            *(core for core in state.cores if core.tile not in unseen),
            *(Core(900 + n, next(places), others[0], True, 0) for n in range(count)),
        ),
        bots=(
            *(bot for bot in state.bots if bot.tile not in unseen),
            *(Bot(ids + n, next(places), rng.choice(others)) for n in range(count)),
        ),
        next_bot_id=ids + count,
        dead=tuple(
            sorted(
                (
                    *(death for death in state.dead if death.tile not in unseen),
                    *(Death(next(places), rng.choice(others)) for _ in range(count)),
                )
            )
        ),
        stats=tuple(
            stats if other == slot else stats._replace(energy=stats.energy + 1, score=-5)
            for other, stats in enumerate(state.stats)
        ),
    )
