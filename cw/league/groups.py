"""The groups of a championship: drawn from a seed, or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Final

from cw.errors import UsageError
from cw.league.schedule import check_teams

USUAL_SIZE: Final = 8
"""Teams per group by default, or one less."""


def usual_count(teams: int) -> int:
    """Return the number of groups in which nobody has more than seven opponents."""
    return -(-teams // USUAL_SIZE)


def draw_groups(
    teams: Sequence[str], seed: int, count: int | None = None
) -> Mapping[str, tuple[str, ...]]:
    """Draw groups whose sizes differ by at most one; their names are A, B, ..., Z, AA, ...

    The order of the teams does not matter. Raises UsageError unless each group gets two.

    >>> dict(draw_groups(["ann", "bob", "cy", "dan"], seed=1, count=2))
    {'A': ('dan', 'cy'), 'B': ('bob', 'ann')}
    """
    check_teams(teams)
    count = usual_count(len(teams)) if count is None else count
    if not 1 <= count <= len(teams) // 2:
        raise UsageError(f"{len(teams)} teams make 1 to {len(teams) // 2} groups, not {count}")
    order = draw_order(teams, seed)
    return MappingProxyType({group_name(i): tuple(order[i::count]) for i in range(count)})


def draw_order(teams: Sequence[str], seed: int) -> list[str]:
    """Shuffle teams depending only on the seed and on their names."""
    order = sorted(teams)
    Random(f"draw {seed}").shuffle(order)
    return order


def group_name(number: int) -> str:
    """Return the name of a group, counted from 0, like a spreadsheet column."""
    before, letter = divmod(number, 26)
    return (group_name(before - 1) if before else "") + chr(ord("A") + letter)


def check_groups(
    groups: Mapping[str, Sequence[str]], teams: Sequence[str]
) -> Mapping[str, tuple[str, ...]]:
    """Return frozen groups; raise UsageError unless each team is in one, and each has two."""
    check_teams(teams)
    members = [team for group in groups.values() for team in group]
    for team in sorted({*members, *teams}):
        if team not in teams:
            raise UsageError(f"the groups name {team!r}, which is not a team here")
        if members.count(team) != 1:
            raise UsageError(f"the team {team!r} is in {members.count(team)} groups, not in one")
    for name, group in groups.items():
        if len(group) < 2:
            raise UsageError(f"group {name!r} has {len(group)} teams; it needs two")
    return MappingProxyType({name: tuple(group) for name, group in groups.items()})
