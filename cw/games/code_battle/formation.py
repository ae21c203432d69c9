"""Moving as a group: what swarm and strategist share."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Final

from cw.games.code_battle.paths import Field, bits
from cw.games.code_battle.plan import Plan
from cw.games.code_battle.torus import Tile

RALLY: Final = 5
"""Steps from the centre within which a bot is with its group."""

CLOSE: Final = 3
"""Steps to the nearest friend that a group keeps."""

QUORUM: Final = 4
"""Bots that must be near before a group advances."""


def centre_of(plan: Plan, group: Collection[Tile]) -> Tile:
    """Return the bot with the least sum of distances to the others."""
    steps = plan.known.steps
    return min(group, key=lambda bot: (sum(steps(bot, other) for other in group), bot))


def advance(plan: Plan, group: Collection[Tile], field: Field) -> None:
    """Bring a group together; advance to the goals when enough of it is near."""
    centre = centre_of(plan, group)
    near = plan.near(centre, group, RALLY)
    together = len(near) >= max(QUORUM, 0.6 * len(group))
    if together:
        steps = field.distances(bits(near))
        for bot in sorted(steps, key=lambda bot: (steps[bot], bot)):
            plan.go(bot, field, partial(keeps_up, plan, bot))
    rally = plan.known.field(1 << centre)
    for bot in sorted(set(group) & plan.free):
        if bot == centre:
            plan.hold(bot)
        else:
            plan.go(bot, rally)


def keeps_up(plan: Plan, bot: Tile, tile: Tile) -> bool:
    """Return whether a step stays with friends, and leads to no tile where enemies are more."""
    others = (other for other in plan.taken if other != bot)
    steps = plan.known.steps
    return outnumbers(plan, bot, tile) and any(steps(tile, other) <= CLOSE for other in others)


def outnumbers(plan: Plan, bot: Tile, tile: Tile) -> bool:
    """Return whether a bot on a tile has more friends beside it, itself counted, than threats."""
    threats = plan.threats.get(tile, 0)
    return not threats or 1 + plan.support(bot, tile) > threats


def trades(plan: Plan, bot: Tile, tile: Tile) -> bool:
    """Return whether a bot on a tile has at least as many beside it, itself counted, as threats."""
    return 1 + plan.support(bot, tile) >= plan.threats.get(tile, 0)
