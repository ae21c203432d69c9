"""Contests: the matches still to be played, and the standings from the results so far.

A contest is a frozen value of teams and settings. Its progress is in the results, which are passed
to every method; `cw.league.fixtures` explains how a contest is played and resumed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Literal, TypeAlias

from cw.league.bracket import (
    LEGS,
    Bracket,
    bracket,
    bracket_rounds,
    crossed,
    places,
    seeded,
    unknown_legs,
)
from cw.league.fixtures import Results, Round, open_fixtures
from cw.league.groups import ADVANCING, StageTable, check_groups, count_rests, played, stage_table
from cw.league.line_ups import FREE_FOR_ALL, check_line_ups, free_for_all
from cw.league.schedule import (
    check_teams,
    default_swiss_rounds,
    gauntlet,
    round_robin,
    swiss,
)
from cw.league.standings import (
    NO_RESTS,
    Order,
    bonus_points,
    by_win_rate,
    ranked,
    with_rests,
)
from cw.league.tie_break_matches import TieBreaker

TableFormat: TypeAlias = Literal["round-robin", "double-round-robin", "swiss", "gauntlet"]


class Contest(ABC):
    """A format with its teams and settings."""

    __slots__ = ()

    @abstractmethod
    def rounds(self, results: Results) -> Iterator[Round]:
        """Yield all rounds that the results determine, in order, including those already played."""

    @abstractmethod
    def standings(self, results: Results) -> tuple[StageTable, ...]:
        """Return the table of each group, or the only table; () for a knockout."""

    def bracket(self, results: Results) -> Bracket:
        """Return the ties of the knockout; () if the contest has none, or none yet."""
        return ()

    def expected(self, results: Results) -> int:
        """Return the total number of matches; tie-break matches count once they are needed."""
        return sum(map(len, self.rounds(results)))

    def order(self, results: Results) -> Order:
        """Rank all teams by the results so far: by default as in the only table."""
        return self.standings(results)[0].settled.order

    def bonus(self, results: Results) -> dict[str, int]:
        """Return the bonus points that are already certain; only a championship awards any."""
        return {}


@dataclass(frozen=True, slots=True)
class Championship(Contest):
    """Groups in double round-robin; the best two of each advance to a two-legged knockout.

    Group winners meet runners-up of other groups, and the best have byes.

    >>> championship = Championship({"A": ("ann", "bob"), "B": ("cy", "dan")}, seed=1)
    >>> [fixture.players for fixture in next(championship.rounds({}))]
    [('ann', 'bob'), ('cy', 'dan')]
    >>> championship.expected({})
    10
    """

    groups: Mapping[str, tuple[str, ...]]
    seed: int

    def __post_init__(self) -> None:
        """Raise UsageError unless each team is in exactly one group."""
        check_groups(self.groups, list(chain.from_iterable(self.groups.values())))

    def rounds(self, results: Results) -> Iterator[Round]:
        """Yield the rounds of all groups in parallel, then those of the knockout."""
        yield from merged(map(self.group_rounds, self.groups))
        yield from merged(group.settled.rounds for group in self.standings(results))
        yield from bracket_rounds(self.bracket(results))

    def group_rounds(self, name: str) -> tuple[Round, ...]:
        """Return the rounds of a group, without tie-break matches."""
        return tuple(round_robin(self.groups[name], double=True, stage="group", group=name))

    def standings(self, results: Results) -> tuple[StageTable, ...]:
        """Return the table of each group."""
        return tuple(self.group_table(name, results) for name in self.groups)

    def group_table(self, name: str, results: Results) -> StageTable:
        """Return the table of one group."""
        rounds = self.group_rounds(name)
        order = ranked(played(rounds, results), self.groups[name])
        return stage_table(rounds, order, TieBreaker("group", name, results, self.seed))

    def bracket(self, results: Results) -> Bracket:
        """Return the ties of the knockout; () until all groups are settled."""
        standings = self.standings(results)
        if not all(group.done for group in standings):
            return ()
        rounds = list(chain.from_iterable(map(self.group_rounds, self.groups)))
        # Group matches count in the score ratio that breaks ties in the knockout; tie-break matches
        # do not.
        before = played(rounds, results)
        places = seeded(crossed(by_strength(standings)))
        return bracket(places, results, self.seed, before)

    def expected(self, results: Results) -> int:
        """Return the total number of matches, including those of the knockout to come."""
        ties = self.bracket(results)
        entrants = ADVANCING * len(self.groups)
        to_come = unknown_legs(ties) if ties else LEGS * (entrants - 1)
        return Contest.expected(self, results) + to_come

    def order(self, results: Results) -> Order:
        """Rank the teams by how far they advanced; those out in the groups by their rank there."""
        orders = [group.settled.order for group in self.standings(results)]
        ties = self.bracket(results)
        if not ties:
            return side_by_side(orders)
        return places(ties) + side_by_side([order[ADVANCING:] for order in orders])

    def bonus(self, results: Results) -> dict[str, int]:
        """Return the bonus points that are already certain."""
        groups = [group.settled.order for group in self.standings(results) if group.done]
        ties = self.bracket(results)
        over = bool(ties) and ties[-1][0].winner is not None
        return bonus_points(groups, places(ties) if over else ())


def merged(stages: Iterable[Iterable[Round]]) -> Iterator[Round]:
    """Merge stages that are played in parallel, round by round."""
    for rounds in zip_longest(*stages, fillvalue=()):
        yield tuple(chain.from_iterable(rounds))


def by_strength(standings: Iterable[StageTable]) -> list[tuple[str, str]]:
    """Return winner and runner-up of each group, starting with the strongest winner's group.

    Strength is the win rate, as groups may differ in size, then the score ratio; if both are equal,
    the order of the groups is kept.
    """
    firsts = [group.rows[:ADVANCING] for group in standings]
    firsts.sort(key=lambda rows: (rows[0].record.win_rate, rows[0].record.ratio), reverse=True)
    return [(winner.team, runner_up.team) for winner, runner_up in firsts]


def side_by_side(orders: Iterable[Order]) -> Order:
    """Merge rankings: all teams that are first in theirs are equal, then all second ones, etc."""
    merged = (
        tuple(sorted(chain.from_iterable(parts))) for parts in zip_longest(*orders, fillvalue=())
    )
    return tuple(equal for equal in merged if equal)


@dataclass(frozen=True, slots=True)
class Knockout(Contest):
    """A two-legged knockout; the teams are in order of strength, or in drawn order.

    >>> knockout = Knockout(("ann", "bob", "cy"), seed=1)
    >>> [(tie.stage, tie.teams, tie.reason) for tie in knockout.bracket({})[0]]
    [('semi-final', ('ann', None), 'bye'), ('semi-final', ('bob', 'cy'), '')]
    """

    teams: tuple[str, ...]
    seed: int

    def __post_init__(self) -> None:
        """Raise UsageError if the teams are invalid."""
        check_teams(self.teams)

    def rounds(self, results: Results) -> Iterator[Round]:
        """Yield the rounds of all known ties."""
        return bracket_rounds(self.bracket(results))

    def standings(self, results: Results) -> tuple[StageTable, ...]:
        """Return (), as there is no table."""
        return ()

    def bracket(self, results: Results) -> Bracket:
        """Return all ties."""
        return bracket(seeded(self.teams), results, self.seed)

    def expected(self, results: Results) -> int:
        """Return the total number of matches, including those with teams not yet known."""
        return Contest.expected(self, results) + unknown_legs(self.bracket(results))

    def order(self, results: Results) -> Order:
        """Rank the teams by how far they advanced."""
        return places(self.bracket(results))


@dataclass(frozen=True, slots=True)
class League(Contest):
    """A contest with a single table.

    >>> from cw.league.fixtures import Result, open_fixtures
    >>> league = League("round-robin", ("ann", "bob"), seed=1)
    >>> (fixture,) = open_fixtures(league.rounds({}), {})
    >>> results = {fixture: Result(fixture.players, (1, 2), (30, 19))}
    >>> [row.team for row in league.standings(results)[0].rows]
    ['ann', 'bob']
    >>> open_fixtures(league.rounds(results), results)
    []
    """

    format: TableFormat
    teams: tuple[str, ...]
    """In order of strength, or drawn; in a gauntlet, the challenger comes first."""
    seed: int
    meetings: int | None = None
    """Meetings of a Swiss contest; None for the default."""

    def __post_init__(self) -> None:
        """Raise UsageError for invalid teams or too many meetings."""
        next(self.table_rounds({}))

    def rounds(self, results: Results) -> Iterator[Round]:
        """Yield the rounds of the table, then the tie-break matches for its top ranks."""
        rounds = tuple(self.table_rounds(results))
        yield from rounds
        # Tie-break matches are known only once the table is complete.
        if not open_fixtures(rounds, results):
            for group in self.standings(results):
                yield from group.settled.rounds

    def table_rounds(self, results: Results) -> Iterator[Round]:
        """Yield the rounds of the table."""
        match self.format:
            case "round-robin":
                return round_robin(self.teams, double=False, stage=self.format)
            case "double-round-robin":
                return round_robin(self.teams, double=True, stage=self.format)
            case "swiss":
                return swiss(self.teams, results, self.meetings)
            case "gauntlet":
                return gauntlet(self.teams)

    def expected(self, results: Results) -> int:
        """Return the total number of matches, including the Swiss rounds to come."""
        planned = Contest.expected(self, results)
        if self.format != "swiss":
            return planned
        meetings = self.meetings or default_swiss_rounds(len(self.teams))
        return max(planned, meetings * LEGS * (len(self.teams) // 2))

    def standings(self, results: Results) -> tuple[StageTable, ...]:
        """Return the only table."""
        rounds = tuple(self.table_rounds(results))
        # In the other formats all teams rest equally often, so rests need not count.
        rests = count_rests(self.teams, rounds) if self.format == "swiss" else NO_RESTS
        order = ranked(played(rounds, results), self.teams, with_rests(rests))
        breaker = TieBreaker(self.format, None, results, self.seed)
        # The challenger of a gauntlet plays the most matches, so its first rank means nothing.
        places = 0 if self.format == "gauntlet" else ADVANCING
        return (stage_table(rounds, order, breaker, places, rests),)


@dataclass(frozen=True, slots=True)
class FreeForAll(Contest):
    """A contest with one table, in matches of three or more players.

    Teams are ranked by win rate, as some may have played one match more than others. Equal teams
    share a rank: there are no tie-break matches.

    >>> contest = FreeForAll(("ann", "bob", "cy", "dan"), seed=1, players=4, number=2)
    >>> contest.expected({})
    2
    """

    teams: tuple[str, ...]
    seed: int
    players: int
    """Players per match."""
    number: int
    """Number of rounds."""

    def __post_init__(self) -> None:
        """Raise UsageError if the teams or the match settings are invalid."""
        check_line_ups(self.teams, self.players, self.number)

    def rounds(self, results: Results) -> Iterator[Round]:
        """Yield all rounds."""
        return iter(free_for_all(self.teams, self.players, self.number, self.seed))

    def standings(self, results: Results) -> tuple[StageTable, ...]:
        """Return the only table."""
        rounds = tuple(self.rounds(results))
        order = ranked(played(rounds, results), self.teams, by_win_rate)
        breaker = TieBreaker(FREE_FOR_ALL, None, results, self.seed)
        # No tie-break matches: a game for three or more players may not support matches of two.
        return (stage_table(rounds, order, breaker, places=0),)
