"""Tables: who won how often, by how much, and how far that may be trusted.

Teams are ranked by number of wins, then by the share of their own points in all points, then by the
same two figures of the games between those that are still equal. Whoever is equal after that shares
a rank here; `cw.league.ties` separates them where it matters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final, TypeAlias

from cw.league.fixtures import Result
from cw.league.intervals import Interval, difference, wilson

WINS_OF_A_REST: Final = 2
"""What a team that rests is given: the wins of a meeting."""

GROUP_BONUS: Final = (2, 1)
"""Bonus points of the winner and the runner-up of a group."""

OVERALL_BONUS: Final = (8, 5)
"""Bonus points of the overall winner and runner-up, beside those of the group."""

Order: TypeAlias = tuple[tuple[str, ...], ...]
"""Teams, the best first; those that are equal stand together, by name."""

NO_RESTS: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Record:
    """The sums of a team's games."""

    wins: int = 0
    losses: int = 0
    score_for: int = 0
    score_against: int = 0

    @property
    def games(self) -> int:
        """Return the number of games."""
        return self.wins + self.losses

    @property
    def ratio(self) -> Fraction:
        """Return the team's own points as a share of all; 0 where there are none."""
        return Fraction(self.score_for, self.score_for + self.score_against or 1)

    @property
    def share(self) -> Fraction:
        """Return the share of games won; 0 where none was played."""
        return Fraction(self.wins, self.games or 1)

    @property
    def interval(self) -> Interval | None:
        """Return the 95 % interval of the share of wins, None where none was played."""
        return wilson(self.wins, self.games) if self.games else None

    def plus(self, won: bool, score_for: int, score_against: int) -> Record:
        """Add a game."""
        return Record(
            self.wins + won,
            self.losses + (not won),
            self.score_for + score_for,
            self.score_against + score_against,
        )


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table."""

    rank: int
    """From 1; teams that are equal share it."""
    team: str
    record: Record
    rests: int = 0
    """Swiss meetings without an opponent, each worth two wins in the ranking."""


def tally(results: Iterable[Result], teams: Iterable[str] = ()) -> dict[str, Record]:
    """Sum up games by team, in the order of `teams`; others follow as they come."""
    records = defaultdict(Record, {team: Record() for team in teams})
    for result in results:
        own, other = result.score
        for team, points in ((result.first, (own, other)), (result.second, (other, own))):
            records[team] = records[team].plus(team == result.winner, *points)
    return dict(records)


def ranked(
    results: Iterable[Result],
    teams: Collection[str] | None = None,
    rests: Mapping[str, int] = NO_RESTS,
) -> Order:
    """Order teams by wins, score ratio and head-to-head; None for teams means all who played."""
    played = list(results)
    records = tally(played, () if teams is None else teams)
    return tuple(
        group for equal in by_figures(records, rests) for group in head_to_head(equal, played)
    )


def by_figures(records: Mapping[str, Record], rests: Mapping[str, int] = NO_RESTS) -> Order:
    """Order teams by wins and score ratio alone."""
    equal = defaultdict(list)
    for team, record in records.items():
        wins = record.wins + WINS_OF_A_REST * rests.get(team, 0)
        equal[wins, record.ratio].append(team)
    return tuple(tuple(sorted(equal[figures])) for figures in sorted(equal, reverse=True))


def head_to_head(equal: tuple[str, ...], results: Sequence[Result]) -> Order:
    """Order equal teams by the games between them, again among those that stay equal."""
    if len(equal) == 1:
        return (equal,)
    between = [game for game in results if game.first in equal and game.second in equal]
    order = by_figures(tally(between, equal))
    if len(order) == 1:
        return order
    return tuple(group for part in order for group in head_to_head(part, between))


def table(
    results: Iterable[Result],
    order: Order | None = None,
    rests: Mapping[str, int] = NO_RESTS,
) -> tuple[Row, ...]:
    """Return the lines of a table; an order of its own says who stands where, all teams in it."""
    played = list(results)
    order = ranked(played, rests=rests) if order is None else order
    records = tally(played, (team for equal in order for team in equal))
    rows: list[Row] = []
    for equal in order:
        rank = len(rows) + 1
        rows += (Row(rank, team, records[team], rests.get(team, 0)) for team in equal)
    return tuple(rows)


def within_noise(better: Record, worse: Record) -> bool | None:
    """Return whether the shares of wins of two teams differ by no more than chance can explain.

    None where one of them has not played.
    """
    if not better.games or not worse.games:
        return None
    gap = difference(better.wins, better.games, worse.wins, worse.games)
    return gap.low <= 0 <= gap.high


@dataclass(frozen=True, slots=True)
class SeatAdvantage:
    """What it is worth to sit first, over all games of a contest."""

    first_wins: int
    games: int
    interval: Interval
    """Of the share of games that the first seat won."""

    @property
    def within_noise(self) -> bool:
        """Return whether no advantage at all would explain the figures."""
        return self.interval.low <= 1 / 2 <= self.interval.high


def seat_advantage(results: Iterable[Result]) -> SeatAdvantage | None:
    """Count how often the first seat won; None where nothing was played."""
    won = Counter(result.winner == result.first for result in results)
    games = won.total()
    return SeatAdvantage(won[True], games, wilson(won[True], games)) if games else None


def bonus_points(groups: Iterable[Order], overall: Order) -> dict[str, int]:
    """Return the bonus points of all that get some; ranks that are shared get none yet."""
    points: Counter[str] = Counter()
    for order, bonuses in [*((group, GROUP_BONUS) for group in groups), (overall, OVERALL_BONUS)]:
        for equal, bonus in zip(order, bonuses, strict=False):
            if len(equal) > 1:
                break
            points[equal[0]] += bonus
    return dict(points)
