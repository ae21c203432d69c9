"""The table of a group or of a whole contest, settled as far as its results allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from cw.league.fixtures import Result, Results, Round, open_fixtures
from cw.league.schedule import resting
from cw.league.standings import NO_RESTS, Order, TableRow, table
from cw.league.tie_breaks import Settled, TieBreaker

ADVANCING: Final = 2
"""Teams per group that advance to the knockout."""


@dataclass(frozen=True, slots=True)
class StageTable:
    """The table of a group or of a whole contest, as far as it is played."""

    name: str
    """The group's name, or the stage's if there are no groups."""
    rows: tuple[TableRow, ...]
    settled: Settled
    """The order of the rows, with the tie-break matches needed and what they decided."""
    done: bool
    """Whether it is final."""
    stages: tuple[str, ...] = ()
    """The stages of its matches, the latest last, if their names differ from the table's."""


def stage_table(
    rounds: Sequence[Round],
    order: Order,
    breaker: TieBreaker,
    places: int = ADVANCING,
    rests: Mapping[str, int] = NO_RESTS,
) -> StageTable:
    """Return the table of all rounds; once they are played, its first places are settled.

    `order` is that of the results so far, without tie-break matches.
    """
    results = breaker.results
    waiting = bool(open_fixtures(rounds, results))
    settled = Settled(order) if waiting else breaker.settle_all(order, places)
    done = not waiting and not open_fixtures(settled.rounds, results)
    rows = table(played(rounds, results), settled.order, rests)
    return StageTable(breaker.group or breaker.stage, rows, settled, done)


def played(rounds: Sequence[Round], results: Results) -> list[Result]:
    """Return the results of rounds, as far as they are played."""
    return [results[fixture] for fixture in chain.from_iterable(rounds) if fixture in results]


def count_rests(teams: Sequence[str], rounds: Sequence[Round]) -> Mapping[str, int]:
    """Return how often each team rests in Swiss rounds, of which two form a meeting."""
    rested = list(chain.from_iterable(resting(teams, fixtures) for fixtures in rounds[::2]))
    return {team: rested.count(team) for team in rested}
