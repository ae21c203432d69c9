"""Standings of contests: wins, score ratio, and confidence intervals of win rates.

Every match counts between each two of its players: the better-ranked one has won, and equal ranks
are a draw, which counts as half a win. A match of two players is one such comparison, a match of n
players is n - 1 of them for each player. A score counts for its player, and the scores of all
others count against it, once in each comparison.

Teams are ranked by wins (or by win rate if some may have played more than others), then by the
share of their own points in all points, then by the same two values for the matches between teams
that are still equal. Teams that are equal after that share a rank here;
`cw.league.tie_break_matches` separates them where it matters.

The comparisons of one match depend on each other, so the interval of a win rate uses the number of
matches as its sample size, not the number of comparisons.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final, TypeAlias

from cw.league.fixtures import Result
from cw.league.strength_tests import Interval, difference, wilson

POINTS_OF_A_REST: Final = 2
"""Points credited for a rest in a Swiss contest: as many as for winning a meeting."""

GROUP_BONUS: Final = (2, 1)
"""Bonus points for the winner and the runner-up of a group."""

OVERALL_BONUS: Final = (8, 5)
"""Bonus points for the overall winner and runner-up, in addition to those of the group."""

Order: TypeAlias = tuple[tuple[str, ...], ...]
"""Teams, best first; equal ones form one group, sorted by name."""

Exact: TypeAlias = int | Fraction
"""An exact number, whose sums do not depend on the order of the summands."""

NO_RESTS: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Record:
    """A team's totals over its matches."""

    wins: int = 0
    """Comparisons won; for two players, this is the number of matches won."""
    draws: int = 0
    losses: int = 0
    score_for: Exact = 0
    score_against: Exact = 0
    matches: int = 0

    @property
    def comparisons(self) -> int:
        """Return how often the team was compared with another team."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> Fraction:
        """Return the wins, with each draw as half of one."""
        return self.wins + Fraction(self.draws, 2)

    @property
    def ratio(self) -> Fraction:
        """Return the team's share of all points; 0 if there are none."""
        return Fraction(self.score_for, self.score_for + self.score_against or 1)

    @property
    def win_rate(self) -> Fraction:
        """Return the share of comparisons won; 0 if there were none."""
        return self.points / (self.comparisons or 1)

    @property
    def wins_in_matches(self) -> float:
        """Return the win rate as a number of matches."""
        return float(self.win_rate * self.matches)

    @property
    def interval(self) -> Interval | None:
        """Return the 95 % interval of the win rate; None before the first match."""
        return wilson(self.wins_in_matches, self.matches) if self.matches else None

    def plus(self, other: Record) -> Record:
        """Return the sum of both records."""
        return Record(
            self.wins + other.wins,
            self.draws + other.draws,
            self.losses + other.losses,
            self.score_for + other.score_for,
            self.score_against + other.score_against,
            self.matches + other.matches,
        )


Merit: TypeAlias = Callable[[str, Record], Fraction]
"""Returns the first value by which a team is ranked, given its name and its record."""


def by_wins(_: str, record: Record) -> Fraction:
    """Rank by wins."""
    return record.points


def by_win_rate(_: str, record: Record) -> Fraction:
    """Rank by win rate, for contests in which some teams play more matches than others."""
    return record.win_rate


def with_rests(rests: Mapping[str, int]) -> Merit:
    """Return a ranking by wins that counts each rest as two wins."""
    return lambda team, record: record.points + POINTS_OF_A_REST * rests.get(team, 0)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table."""

    rank: int
    """From 1; equal teams share it."""
    team: str
    record: Record
    rests: int = 0
    """Swiss meetings without an opponent, each worth two wins in the ranking."""
    points: int | None = None
    """Points in a ladder, where the rank depends on points instead of wins."""


def tally(results: Iterable[Result], teams: Iterable[str] = ()) -> dict[str, Record]:
    """Sum up matches by team, in the order of `teams`; other teams follow as they appear."""
    records = defaultdict(Record, {team: Record() for team in teams})
    for result in results:
        for team, record in counted(result):
            records[team] = records[team].plus(record)
    return dict(records)


def counted(result: Result) -> Iterator[tuple[str, Record]]:
    """Yield what a match adds to each player's record."""
    scores = [exact(score) for score in result.scores]
    total, others = sum(scores), len(scores) - 1
    for team, rank, score in zip(result.players, result.ranks, scores, strict=True):
        wins = sum(other > rank for other in result.ranks)
        losses = sum(other < rank for other in result.ranks)
        yield (
            team,
            Record(wins, others - wins - losses, losses, score * others, total - score, matches=1),
        )


def exact(score: float) -> Exact:
    """Return a score as an exact number, so that sums do not depend on the order."""
    return int(score) if score == int(score) else Fraction(score)


def ranked(
    results: Iterable[Result], teams: Collection[str] | None = None, merit: Merit = by_wins
) -> Order:
    """Rank teams by merit, score ratio and head-to-head; by default all teams that played."""
    played = list(results)
    records = tally(played, () if teams is None else teams)
    return tuple(
        part for equal in by_figures(records, merit) for part in head_to_head(equal, played)
    )


def by_figures(records: Mapping[str, Record], merit: Merit = by_wins) -> Order:
    """Rank teams by merit and score ratio only."""
    equal = defaultdict(list)
    for team, record in records.items():
        equal[merit(team, record), record.ratio].append(team)
    return tuple(tuple(sorted(equal[figures])) for figures in sorted(equal, reverse=True))


def head_to_head(equal: tuple[str, ...], results: Sequence[Result]) -> Order:
    """Rank equal teams by the matches between them, recursively for those that stay equal.

    Of matches with other players, only the comparisons between these teams count.
    """
    if len(equal) == 1:
        return (equal,)
    members = frozenset(equal)
    meetings = [result for result in results if len(members.intersection(result.players)) > 1]
    # Recursive, because a tie among three may become one among two, which is decided by their
    # matches alone.
    between = [result.among(members) for result in meetings]
    order = by_figures(tally(between, equal))
    if len(order) == 1:
        return order
    return tuple(group for part in order for group in head_to_head(part, between))


def table(
    results: Iterable[Result],
    order: Order | None = None,
    rests: Mapping[str, int] = NO_RESTS,
) -> tuple[TableRow, ...]:
    """Return the rows of a table; an `order` must include all teams and replaces the default.

    >>> for row in table([Result(("ann", "bob"), (2, 1), (20, 29))]):
    ...     print(row.rank, row.team, row.record.wins)
    1 bob 1
    2 ann 0
    """
    played = list(results)
    order = ranked(played) if order is None else order
    records = tally(played, (team for equal in order for team in equal))
    rows: list[TableRow] = []
    for equal in order:
        rank = len(rows) + 1
        rows += (TableRow(rank, team, records[team], rests.get(team, 0)) for team in equal)
    return tuple(rows)


def within_noise(better: Record, worse: Record) -> bool | None:
    """Return whether the difference between two teams' win rates can be explained by chance.

    Return None if one of them has not played.
    """
    if not better.matches or not worse.matches:
        return None
    gap = difference(better.wins_in_matches, better.matches, worse.wins_in_matches, worse.matches)
    return gap.low <= 0 <= gap.high


@dataclass(frozen=True, slots=True)
class SeatAdvantage:
    """The advantage of the first seat, over all matches of a contest."""

    first_wins: int
    matches: int
    """Number of matches with a winner."""
    interval: Interval
    """Confidence interval for the share of these matches that the first seat won."""
    even: float
    """The share expected if no seat has an advantage."""

    @property
    def within_noise(self) -> bool:
        """Return whether the values are consistent with no advantage at all."""
        return self.interval.low <= self.even <= self.interval.high


def seat_advantage(results: Iterable[Result]) -> SeatAdvantage | None:
    """Count how often the first seat won; return None if no match had a winner."""
    decided = [result for result in results if result.winner is not None]
    if not decided:
        return None
    wins = sum(result.winner == result.players[0] for result in decided)
    even = sum(1 / len(result.players) for result in decided) / len(decided)
    return SeatAdvantage(wins, len(decided), wilson(wins, len(decided)), even)


def bonus_points(groups: Iterable[Order], overall: Order) -> dict[str, int]:
    """Return the bonus points of all teams that have any; shared ranks get none yet."""
    points: Counter[str] = Counter()
    for order, bonuses in [*((group, GROUP_BONUS) for group in groups), (overall, OVERALL_BONUS)]:
        for equal, bonus in zip(order, bonuses, strict=False):
            if len(equal) > 1:
                break
            points[equal[0]] += bonus
    return dict(points)
