"""Contests: which matches are still to be played, and what the results say.

A contest is a frozen value of teams and settings. All that happens stands in the results, which are
handed to every method; `cw.league.fixtures` says how a contest is played and resumed.
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
from cw.league.fixtures import Results, Round
from cw.league.groups import check_groups
from cw.league.line_ups import FREE_FOR_ALL, check_line_ups, free_for_all
from cw.league.schedule import (
    check_teams,
    default_swiss_rounds,
    gauntlet,
    round_robin,
    swiss,
)
from cw.league.stage_tables import ADVANCING, StageTable, count_rests, played, stage_table
from cw.league.standings import (
    NO_RESTS,
    Order,
    bonus_points,
    by_win_rate,
    ranked,
    with_rests,
)
from cw.league.tie_breaks import TieBreaker

TableFormat: TypeAlias = Literal["round-robin", "double-round-robin", "swiss", "gauntlet"]


class Contest(ABC):
    """A format with its teams and settings."""

    __slots__ = ()

    @abstractmethod
    def rounds(self, results: Results) -> Iterator[Round]:
        """Return all rounds that the results settle, in order, played ones among them."""

    @abstractmethod
    def standings(self, results: Results) -> tuple[StageTable, ...]:
        """Return a table for each group, or the one table; none for a knockout."""

    def bracket(self, results: Results) -> Bracket:
        """Return the ties of the knockout; () where there is none, or not yet."""
        return ()

    def expected(self, results: Results) -> int:
        """Return how many matches it takes in all; tie-break matches count once they are due."""
        return sum(map(len, self.rounds(results)))

    def order(self, results: Results) -> Order:
        """Order all teams by what they have reached so far: as in the one table."""
        return self.standings(results)[0].settled.order

    def bonus(self, results: Results) -> dict[str, int]:
        """Return the bonus points that are certain by now; none but in a championship."""
        return {}


@dataclass(frozen=True, slots=True)
class Championship(Contest):
    """Groups in double round-robin, of which the best two each go on to a two-legged knockout.

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
        """Raise UsageError unless each team is in one group."""
        check_groups(self.groups, list(chain.from_iterable(self.groups.values())))

    def rounds(self, results: Results) -> Iterator[Round]:
        """Return the rounds of all groups side by side, then those of the knockout."""
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
        # Group matches count in the score ratio that breaks ties of the knockout; tie-break matches
        # do not.
        before = played(rounds, results)
        places = seeded(crossed(by_strength(standings)))
        return bracket(places, results, self.seed, before)

    def expected(self, results: Results) -> int:
        """Return how many matches it takes, those of a knockout to come among them."""
        ties = self.bracket(results)
        entrants = ADVANCING * len(self.groups)
        to_come = unknown_legs(ties) if ties else LEGS * (entrants - 1)
        return Contest.expected(self, results) + to_come

    def order(self, results: Results) -> Order:
        """Order the teams by how far they came, those that stayed in the groups by place there."""
        orders = [group.settled.order for group in self.standings(results)]
        ties = self.bracket(results)
        if not ties:
            return side_by_side(orders)
        return places(ties) + side_by_side([order[ADVANCING:] for order in orders])

    def bonus(self, results: Results) -> dict[str, int]:
        """Return the bonus points that are certain by now."""
        groups = [group.settled.order for group in self.standings(results) if group.done]
        ties = self.bracket(results)
        over = bool(ties) and ties[-1][0].winner is not None
        return bonus_points(groups, places(ties) if over else ())


def merged(stages: Iterable[Iterable[Round]]) -> Iterator[Round]:
    """Return the rounds of stages that are played side by side."""
    for rounds in zip_longest(*stages, fillvalue=()):
        yield tuple(chain.from_iterable(rounds))


def by_strength(standings: Iterable[StageTable]) -> list[tuple[str, str]]:
    """Return winner and runner-up of groups, the group with the strongest winner first.

    Strength is the win rate, as groups may differ in size, then the score ratio; where both are
    equal the order of the groups stays.
    """
    firsts = [group.rows[:ADVANCING] for group in standings]
    firsts.sort(key=lambda rows: (rows[0].record.win_rate, rows[0].record.ratio), reverse=True)
    return [(winner.team, runner_up.team) for winner, runner_up in firsts]


def side_by_side(orders: Iterable[Order]) -> Order:
    """Merge orders: all that are first in theirs are equal, then all that are second, ..."""
    merged = (
        tuple(sorted(chain.from_iterable(parts))) for parts in zip_longest(*orders, fillvalue=())
    )
    return tuple(equal for equal in merged if equal)


@dataclass(frozen=True, slots=True)
class Knockout(Contest):
    """A two-legged knockout of teams in the order of their strength, or drawn.

    >>> knockout = Knockout(("ann", "bob", "cy"), seed=1)
    >>> [(tie.stage, tie.teams, tie.reason) for tie in knockout.bracket({})[0]]
    [('semi-final', ('ann', None), 'bye'), ('semi-final', ('bob', 'cy'), '')]
    """

    teams: tuple[str, ...]
    seed: int

    def __post_init__(self) -> None:
        """Raise UsageError for teams that cannot be."""
        check_teams(self.teams)

    def rounds(self, results: Results) -> Iterator[Round]:
        """Return the rounds of all ties that are known."""
        return bracket_rounds(self.bracket(results))

    def standings(self, results: Results) -> tuple[StageTable, ...]:
        """Return no table."""
        return ()

    def bracket(self, results: Results) -> Bracket:
        """Return all ties."""
        return bracket(seeded(self.teams), results, self.seed)

    def expected(self, results: Results) -> int:
        """Return how many matches it takes, those between teams to come among them."""
        return Contest.expected(self, results) + unknown_legs(self.bracket(results))

    def order(self, results: Results) -> Order:
        """Order the teams by how far they came."""
        return places(self.bracket(results))


@dataclass(frozen=True, slots=True)
class League(Contest):
    """A contest of one table.

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
    """By strength, or drawn; in a gauntlet the challenger first."""
    seed: int
    meetings: int | None = None
    """Of a Swiss contest; None for the usual number."""

    def __post_init__(self) -> None:
        """Raise UsageError for teams that cannot be, or too many meetings."""
        next(self.table_rounds({}))

    def rounds(self, results: Results) -> Iterator[Round]:
        """Return the rounds of the table, then tie-break matches for its first places."""
        yield from self.table_rounds(results)
        for group in self.standings(results):
            yield from group.settled.rounds

    def table_rounds(self, results: Results) -> Iterator[Round]:
        """Return the rounds of the table."""
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
        """Return how many matches it takes, the Swiss rounds to come among them."""
        planned = Contest.expected(self, results)
        if self.format != "swiss":
            return planned
        meetings = self.meetings or default_swiss_rounds(len(self.teams))
        return max(planned, meetings * LEGS * (len(self.teams) // 2))

    def standings(self, results: Results) -> tuple[StageTable, ...]:
        """Return the one table."""
        rounds = tuple(self.table_rounds(results))
        # Elsewhere everybody rests equally often, so that rests need not count.
        rests = count_rests(self.teams, rounds) if self.format == "swiss" else NO_RESTS
        order = ranked(played(rounds, results), self.teams, with_rests(rests))
        breaker = TieBreaker(self.format, None, results, self.seed)
        # The challenger of a gauntlet plays most matches, so its first place says nothing.
        places = 0 if self.format == "gauntlet" else ADVANCING
        return (stage_table(rounds, order, breaker, places, rests),)


@dataclass(frozen=True, slots=True)
class FreeForAll(Contest):
    """A contest of one table, in matches of three players or more.

    Teams are ranked by win rate, as some may have played one match more than others. Those that
    stay equal share a rank: there are no tie-break matches.

    >>> contest = FreeForAll(("ann", "bob", "cy", "dan"), seed=1, players=4, number=2)
    >>> contest.expected({})
    2
    """

    teams: tuple[str, ...]
    seed: int
    players: int
    """Of a match."""
    number: int
    """Of rounds."""

    def __post_init__(self) -> None:
        """Raise UsageError for teams and matches that cannot be."""
        check_line_ups(self.teams, self.players, self.number)

    def rounds(self, results: Results) -> Iterator[Round]:
        """Return all rounds."""
        return iter(free_for_all(self.teams, self.players, self.number, self.seed))

    def standings(self, results: Results) -> tuple[StageTable, ...]:
        """Return the one table."""
        rounds = tuple(self.rounds(results))
        order = ranked(played(rounds, results), self.teams, by_win_rate)
        breaker = TieBreaker(FREE_FOR_ALL, None, results, self.seed)
        # No tie-break matches: a game for three players or more may have no match of two.
        return (stage_table(rounds, order, breaker, places=0),)
