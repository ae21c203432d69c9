"""Whole contests: which matches are still to be played, and what the results say.

A contest is a frozen value of teams and settings. All that happens stands in the results, which are
handed to every method; `cw.league.fixtures` says how a contest is played and resumed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final, Literal, TypeAlias

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
from cw.league.fixtures import Result, Results, Round, open_fixtures
from cw.league.groups import check_groups
from cw.league.line_ups import FREE_FOR_ALL, check_line_ups, free_for_all
from cw.league.schedule import (
    check_teams,
    default_swiss_rounds,
    gauntlet,
    resting,
    round_robin,
    swiss,
)
from cw.league.standings import (
    NO_RESTS,
    Order,
    Row,
    bonus_points,
    by_win_rate,
    ranked,
    table,
    with_rests,
)
from cw.league.ties import Settled, TieBreaker

TableFormat: TypeAlias = Literal["round-robin", "double-round-robin", "swiss", "gauntlet"]

ADVANCING: Final = 2
"""Teams of a group that go on to the knockout."""


class Contest(ABC):
    """A format with its teams and settings."""

    __slots__ = ()

    @abstractmethod
    def rounds(self, results: Results) -> Iterator[Round]:
        """Return all rounds that the results settle, in order, played ones among them."""

    @abstractmethod
    def standings(self, results: Results) -> tuple[Standing, ...]:
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
class Standing:
    """The table of a group or of a whole contest, as far as it is played."""

    name: str
    """Of the group, or of the stage where there are no groups."""
    rows: tuple[Row, ...]
    settled: Settled
    """The order of the rows, with the tie-break matches it takes and what they decided."""
    done: bool
    """Whether nothing can change it any more."""


def standing(
    rounds: Sequence[Round],
    order: Order,
    breaker: TieBreaker,
    places: int = ADVANCING,
    rests: Mapping[str, int] = NO_RESTS,
) -> Standing:
    """Return the table of all rounds; once they are played, its first places are settled.

    `order` is that of the results so far, without tie-break matches.
    """
    results = breaker.results
    waiting = bool(open_fixtures(rounds, results))
    settled = Settled(order) if waiting else breaker.settle_all(order, places)
    done = not waiting and not open_fixtures(settled.rounds, results)
    rows = table(played(rounds, results), settled.order, rests)
    return Standing(breaker.group or breaker.stage, rows, settled, done)


def played(rounds: Sequence[Round], results: Results) -> list[Result]:
    """Return the results of rounds, as far as there are any."""
    return [results[fixture] for fixture in chain.from_iterable(rounds) if fixture in results]


def count_rests(teams: Sequence[str], rounds: Sequence[Round]) -> Mapping[str, int]:
    """Return how often each team rests in Swiss rounds, of which two are a meeting."""
    rested = list(chain.from_iterable(resting(teams, fixtures) for fixtures in rounds[::2]))
    return {team: rested.count(team) for team in rested}


@dataclass(frozen=True, slots=True)
class Championship(Contest):
    """Groups in double round-robin, of which the best two each go on to a two-legged knockout.

    Group winners meet runners-up of other groups, and the best have byes.
    """

    groups: Mapping[str, tuple[str, ...]]
    seed: int

    def __post_init__(self) -> None:
        """Raise UsageError unless each team is in one group."""
        check_groups(self.groups, list(chain.from_iterable(self.groups.values())))

    def rounds(self, results: Results) -> Iterator[Round]:
        """Return the rounds of all groups side by side, then those of the knockout."""
        yield from merged(map(self.group_rounds, self.groups))
        yield from merged(one.settled.rounds for one in self.standings(results))
        yield from bracket_rounds(self.bracket(results))

    def group_rounds(self, name: str) -> tuple[Round, ...]:
        """Return the rounds of a group, without tie-break matches."""
        return tuple(round_robin(self.groups[name], double=True, stage="group", group=name))

    def standings(self, results: Results) -> tuple[Standing, ...]:
        """Return the table of each group."""
        return tuple(self.group_standing(name, results) for name in self.groups)

    def group_standing(self, name: str, results: Results) -> Standing:
        """Return the table of one group."""
        rounds = self.group_rounds(name)
        order = ranked(played(rounds, results), self.groups[name])
        return standing(rounds, order, TieBreaker("group", name, results, self.seed))

    def bracket(self, results: Results) -> Bracket:
        """Return the ties of the knockout; () until all groups are settled."""
        standings = self.standings(results)
        if not all(one.done for one in standings):
            return ()
        rounds = list(chain.from_iterable(map(self.group_rounds, self.groups)))
        before = played(rounds, results)
        slots = seeded(crossed(by_strength(standings)))
        return bracket(slots, results, self.seed, before)

    def expected(self, results: Results) -> int:
        """Return how many matches it takes, those of a knockout to come among them."""
        ties = self.bracket(results)
        entrants = ADVANCING * len(self.groups)
        to_come = unknown_legs(ties) if ties else LEGS * (entrants - 1)
        return Contest.expected(self, results) + to_come

    def order(self, results: Results) -> Order:
        """Order the teams by how far they came, those that stayed in the groups by place there."""
        orders = [one.settled.order for one in self.standings(results)]
        ties = self.bracket(results)
        if not ties:
            return side_by_side(orders)
        return places(ties) + side_by_side([order[ADVANCING:] for order in orders])

    def bonus(self, results: Results) -> dict[str, int]:
        """Return the bonus points that are certain by now."""
        groups = [one.settled.order for one in self.standings(results) if one.done]
        ties = self.bracket(results)
        over = bool(ties) and ties[-1][0].winner is not None
        return bonus_points(groups, places(ties) if over else ())


def merged(stages: Iterable[Iterable[Round]]) -> Iterator[Round]:
    """Return the rounds of stages that are played side by side."""
    for rounds in zip_longest(*stages, fillvalue=()):
        yield tuple(chain.from_iterable(rounds))


def by_strength(standings: Iterable[Standing]) -> list[tuple[str, str]]:
    """Return winner and runner-up of groups, the group with the strongest winner first.

    Strength is the win rate, as groups may differ in size, then the score ratio; where both are
    equal the order of the groups stays.
    """
    firsts = [one.rows[:ADVANCING] for one in standings]
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
    """A two-legged knockout of teams in the order of their strength, or drawn."""

    teams: tuple[str, ...]
    seed: int

    def __post_init__(self) -> None:
        """Raise UsageError for teams that cannot be."""
        check_teams(self.teams)

    def rounds(self, results: Results) -> Iterator[Round]:
        """Return the rounds of all ties that are known."""
        return bracket_rounds(self.bracket(results))

    def standings(self, results: Results) -> tuple[Standing, ...]:
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
    """A contest of one table."""

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
        for one in self.standings(results):
            yield from one.settled.rounds

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
        known = Contest.expected(self, results)
        if self.format != "swiss":
            return known
        meetings = self.meetings or default_swiss_rounds(len(self.teams))
        return max(known, meetings * LEGS * (len(self.teams) // 2))

    def standings(self, results: Results) -> tuple[Standing, ...]:
        """Return the one table."""
        rounds = tuple(self.table_rounds(results))
        rests = count_rests(self.teams, rounds) if self.format == "swiss" else NO_RESTS
        order = ranked(played(rounds, results), self.teams, with_rests(rests))
        breaker = TieBreaker(self.format, None, results, self.seed)
        # The challenger of a gauntlet plays most matches, so its first place says nothing.
        places = 0 if self.format == "gauntlet" else ADVANCING
        return (standing(rounds, order, breaker, places, rests),)


@dataclass(frozen=True, slots=True)
class FreeForAll(Contest):
    """A contest of one table, in matches of three players or more.

    Teams are ranked by win rate, as some may have played one match more than others. Those that
    stay equal share a rank: there are no tie-break matches.
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

    def standings(self, results: Results) -> tuple[Standing, ...]:
        """Return the one table."""
        rounds = tuple(self.rounds(results))
        order = ranked(played(rounds, results), self.teams, by_win_rate)
        breaker = TieBreaker(FREE_FOR_ALL, None, results, self.seed)
        return (standing(rounds, order, breaker, places=0),)
