"""A ladder as a contest: rounds in which wins over higher teams are worth more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from cw.errors import UsageError
from cw.league.contests import Contest
from cw.league.fixtures import Fixture, Results, Round, open_fixtures
from cw.league.ladder.final_order import EntryTotals, final_order
from cw.league.ladder.places import positions
from cw.league.ladder.points import (
    POINTS,
    Crosstable,
    GameResult,
    PlayedMatch,
    Scoring,
    Tally,
    crosstable,
    summed,
)
from cw.league.ladder.rounds import derived_seed, pairs
from cw.league.schedule import check_teams
from cw.league.stage_tables import StageTable, played
from cw.league.standings import Order, table
from cw.league.tie_breaks import Settled

LADDER: Final = "ladder"

USUAL_ROUNDS: Final = 3

MOST_ROUNDS: Final = 1000


@dataclass(frozen=True, slots=True)
class Ladder(Contest):
    """Rounds in which every two teams meet, played one after the other.

    A win over a team that stands higher at the start of the round is worth more (`POINTS`). In the
    end no two teams share a place; for how, see `final_order`.

    >>> ladder = Ladder(("ann", "bob", "cy"), seed=1, number=2)
    >>> [fixture.players for fixtures in ladder.rounds({}) for fixture in fixtures]
    [('bob', 'cy'), ('bob', 'ann'), ('cy', 'ann')]
    >>> ladder.expected({})
    6
    """

    teams: tuple[str, ...]
    seed: int
    number: int = USUAL_ROUNDS
    """Number of rounds."""

    def __post_init__(self) -> None:
        """Raise UsageError for invalid teams or an invalid number of rounds."""
        check_teams(self.teams)
        if not 1 <= self.number <= MOST_ROUNDS:
            raise UsageError(f"a ladder has 1 to {MOST_ROUNDS} rounds, not {self.number}")

    def rounds(self, results: Results) -> Iterator[Round]:
        """Yield the fixtures of each ladder round, up to the first unfinished one."""
        for number in range(1, self.number + 1):
            rows = self.fixtures(number)
            yield from rows
            if open_fixtures(rows, results):
                return

    def fixtures(self, number: int) -> tuple[Round, ...]:
        """Return the fixtures of a ladder round, in rows in which nobody plays twice."""
        return fixtures_of(self.teams, self.seed, number)

    def expected(self, results: Results) -> int:
        """Return the total number of matches."""
        return self.number * len(self.teams) * (len(self.teams) - 1) // 2

    def crosstable(self, results: Results) -> Crosstable[str]:
        """Return the tally of each team against each other in all matches so far."""
        sums: dict[tuple[str, str], Tally] = {}
        for number in range(1, self.number + 1):
            places = positions(self.points(sums), self.teams)
            for pair, tally in crosstable(self.matches(number, results), places, SCORING).items():
                sums[pair] = sums.get(pair, Tally()).plus(tally)
        return sums

    def matches(self, number: int, results: Results) -> Iterator[PlayedMatch[str]]:
        """Yield the finished matches of a round."""
        for result in played(self.fixtures(number), results):
            yield PlayedMatch(result.players, (GameResult(result.ranks, result.scores),))

    def points(self, sums: Crosstable[str]) -> dict[str, int]:
        """Return the points of each team."""
        tallies = summed(sums)
        return {team: tallies.get(team, Tally()).points for team in self.teams}

    def standings(self, results: Results) -> tuple[StageTable, ...]:
        """Return the only table, by points."""
        sums = self.crosstable(results)
        points = self.points(sums)
        done = len(results) >= self.expected(results)
        order = self.final(sums) if done else by_points(points)
        rows = (replace(row, points=points[row.team]) for row in table(results.values(), order))
        stages = tuple(stage(number) for number in range(1, self.number + 1))
        return (StageTable(LADDER, tuple(rows), Settled(order), done, stages),)

    def final(self, sums: Crosstable[str]) -> Order:
        """Return the final order, in which no two teams are equal."""
        totals = [
            EntryTotals(team, tally.points, tally.games_diff, tally.score_diff)
            for team, tally in ({team: Tally() for team in self.teams} | summed(sums)).items()
        ]
        head_to_head = {pair: tally.points for pair, tally in sums.items()}
        return tuple((team,) for team in final_order(totals, head_to_head, self.seed))


SCORING: Final = Scoring(POINTS)


def stage(number: int) -> str:
    """Return the name of a round; each is a stage, to give its matches seeds of their own."""
    return f"round {number}"


@lru_cache(maxsize=64)
def fixtures_of(teams: tuple[str, ...], seed: int, number: int) -> tuple[Round, ...]:
    """Return the fixtures of a ladder round, in rows in which nobody plays twice."""
    planned = pairs(teams, derived_seed(53, seed, LADDER, number))
    width = len(teams) // 2
    rows = [planned[start : start + width] for start in range(0, len(planned), width)]
    return tuple(
        tuple(Fixture(stage(number), None, row, players) for players in meetings)
        for row, meetings in enumerate(rows, 1)
    )


def by_points(points: dict[str, int]) -> Order:
    """Order teams by points, grouping equal ones."""
    best_first = sorted(set(points.values()), reverse=True)
    return tuple(
        tuple(sorted(team for team, total in points.items() if total == worth))
        for worth in best_first
    )
