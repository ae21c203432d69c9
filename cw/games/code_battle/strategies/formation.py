"""Moving as a group, for the strategies swarm and strategist."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Final

from cw.games.code_battle.rules.torus import Tile
from cw.games.code_battle.strategies.paths import DistanceField, bits
from cw.games.code_battle.strategies.plan import TurnPlan

RALLY: Final = 5
"""The maximum distance in steps from the centre at which a bot counts as with its group."""

CLOSE: Final = 3
"""The maximum distance in steps to the nearest friend while a group advances."""

QUORUM: Final = 4
"""The minimum number of bots together for a group to advance."""


def medoid(plan: TurnPlan, group: Collection[Tile]) -> Tile:
    """Return the bot of a group with the smallest sum of distances to the others."""
    steps = plan.known.steps
    return min(group, key=lambda bot: (sum(steps(bot, other) for other in group), bot))


def advance(plan: TurnPlan, group: Collection[Tile], field: DistanceField) -> None:
    """Send a group towards the goals if enough of it is together; send the rest to its medoid."""
    centre = medoid(plan, group)
    near = plan.near(centre, group, RALLY)
    if len(near) >= max(QUORUM, 0.6 * len(group)):
        steps = field.distances(bits(near))
        for bot in sorted(steps, key=lambda bot: (steps[bot], bot)):
            plan.go(bot, field, partial(keeps_up, plan, bot))
    rally = plan.known.distance_field(1 << centre)
    for bot in sorted(set(group) & plan.free):
        if bot == centre:
            plan.hold(bot)
        else:
            plan.go(bot, rally)


def keeps_up(plan: TurnPlan, bot: Tile, tile: Tile) -> bool:
    """Return whether a bot on a tile would be close to a friend and not outnumbered."""
    others = (other for other in plan.occupied if other != bot)
    steps = plan.known.steps
    return outnumbers(plan, bot, tile) and any(steps(tile, other) <= CLOSE for other in others)


def outnumbers(plan: TurnPlan, bot: Tile, tile: Tile) -> bool:
    """Return whether a tile has no threats, or more own bots on and around it than threats."""
    threats = plan.threats.get(tile, 0)
    return not threats or 1 + plan.support(bot, tile) > threats


def trades(plan: TurnPlan, bot: Tile, tile: Tile) -> bool:
    """Return whether a tile has at least as many own bots on and around it as threats."""
    return 1 + plan.support(bot, tile) >= plan.threats.get(tile, 0)
