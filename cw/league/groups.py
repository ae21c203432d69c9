"""The groups of a championship: drawn from a seed, or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from types import MappingProxyType
from typing import Final

from cw.errors import UsageError
from cw.league.fixtures import Result, Results, Round, open_fixtures
from cw.league.schedule import check_teams, resting
from cw.league.standings import NO_RESTS, Order, TableRow, table
from cw.league.tie_break_matches import Settled, TieBreaker

USUAL_SIZE: Final = 8
"""Default number of teams per group; some groups may have one less."""


def usual_count(teams: int) -> int:
    """Return the number of groups needed so that no team has more than seven opponents."""
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
    """Shuffle teams in a way that depends only on the seed and on their names."""
    order = sorted(teams)
    Random(f"draw {seed}").shuffle(order)
    return order


def group_name(number: int) -> str:
    """Return the name of a group by its index from 0, like a spreadsheet column."""
    before, letter = divmod(number, 26)
    return (group_name(before - 1) if before else "") + chr(ord("A") + letter)


def check_groups(
    groups: Mapping[str, Sequence[str]], teams: Sequence[str]
) -> Mapping[str, tuple[str, ...]]:
    """Return immutable groups; raise UsageError unless each team is in one, and each has two."""
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


ADVANCING: Final = 2
"""Teams per group that advance to the knockout."""


@dataclass(frozen=True, slots=True)
class StageTable:
    """The table of a group or of a whole contest, from the matches played so far."""

    name: str
    """The group's name, or the stage's name if there are no groups."""
    rows: tuple[TableRow, ...]
    settled: Settled
    """The order of the rows, with the tie-break matches needed and the decisions made."""
    done: bool
    """Whether the table is final."""
    stages: tuple[str, ...] = ()
    """The stages of its matches, in playing order, if their names differ from the table's."""


def stage_table(
    rounds: Sequence[Round],
    order: Order,
    breaker: TieBreaker,
    places: int = ADVANCING,
    rests: Mapping[str, int] = NO_RESTS,
) -> StageTable:
    """Return the table of all rounds; once they are played, its top ranks are settled.

    `order` is the ranking by the results so far, without tie-break matches.
    """
    results = breaker.results
    waiting = bool(open_fixtures(rounds, results))
    settled = Settled(order) if waiting else breaker.settle_all(order, places)
    done = not waiting and not open_fixtures(settled.rounds, results)
    rows = table(played(rounds, results), settled.order, rests)
    return StageTable(breaker.group or breaker.stage, rows, settled, done)


def played(rounds: Sequence[Round], results: Results) -> list[Result]:
    """Return the results of those fixtures of some rounds that have been played."""
    return [results[fixture] for fixture in chain.from_iterable(rounds) if fixture in results]


def count_rests(teams: Sequence[str], rounds: Sequence[Round]) -> Mapping[str, int]:
    """Return how often each team rests in Swiss rounds, two of which form a meeting."""
    rested = list(chain.from_iterable(resting(teams, fixtures) for fixtures in rounds[::2]))
    return {team: rested.count(team) for team in rested}
