"""Whole contests: which games a format still asks for, and what its results say.

A contest is a frozen value of teams and settings. All that happens stands in the results, which are
handed to every method; `cw.league.fixtures` says how a contest is played and resumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final, Literal, Protocol, TypeAlias, get_args

from cw.errors import UsageError
from cw.league.bracket import Bracket, bracket, bracket_rounds, crossed, places, seeded
from cw.league.fixtures import Results, Round, open_fixtures
from cw.league.groups import check_groups, draw_groups
from cw.league.schedule import check_teams, gauntlet, resting, round_robin, swiss
from cw.league.standings import NO_RESTS, Order, Row, bonus_points, ranked, table
from cw.league.ties import Settled, TieBreaker

TableFormat: TypeAlias = Literal["round-robin", "double-round-robin", "swiss", "gauntlet"]
FORMATS: Final[tuple[str, ...]] = ("championship", "knockout", *get_args(TableFormat))

ADVANCING: Final = 2
"""Teams of a group that go on to the knockout."""


class Contest(Protocol):
    """A format with its teams and settings."""

    def rounds(self, results: Results) -> Iterator[Round]:
        """Return all rounds that the results settle, in order, played ones among them."""

    def standings(self, results: Results) -> tuple[Standing, ...]:
        """Return a table for each group, or the one table; none for a knockout."""

    def bracket(self, results: Results) -> Bracket:
        """Return the ties of the knockout; () where there is none, or not yet."""

    def order(self, results: Results) -> Order:
        """Order all teams by what they have reached so far."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The table of a group or of a whole contest, as far as it is played."""

    name: str
    """Of the group, or of the stage where there are no groups."""
    rows: tuple[Row, ...]
    settled: Settled
    """The order of the rows, with the further games that it takes and what they decided."""
    done: bool
    """Whether nothing can change it any more."""


def standing(
    teams: Sequence[str],
    rounds: Sequence[Round],
    judge: TieBreaker,
    places: int = ADVANCING,
    rests: Mapping[str, int] = NO_RESTS,
) -> Standing:
    """Make the table of the games in `rounds`; once they are played, settle the first places."""
    results = judge.results
    played = [results[game] for games in rounds for game in games if game in results]
    order = ranked(played, teams, rests)
    waiting = bool(open_fixtures(rounds, results))
    settled = Settled(order) if waiting else judge.settle_all(order, places)
    done = not waiting and not open_fixtures(settled.rounds, results)
    name = judge.group or judge.stage
    return Standing(name, table(played, settled.order, rests), settled, done)


def count_rests(teams: Sequence[str], rounds: Sequence[Round]) -> Mapping[str, int]:
    """Count how often each team rests in Swiss rounds, of which two are a meeting."""
    rested = list(chain.from_iterable(resting(teams, games) for games in rounds[::2]))
    return {team: rested.count(team) for team in rested}


@dataclass(frozen=True, slots=True)
class Championship:
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
        for games in zip_longest(*map(self.group_rounds, self.groups), fillvalue=()):
            yield tuple(chain.from_iterable(games))
        standings = self.standings(results)
        for games in zip_longest(*(one.settled.rounds for one in standings), fillvalue=()):
            yield tuple(chain.from_iterable(games))
        yield from bracket_rounds(self.bracket(results))

    def group_rounds(self, name: str) -> tuple[Round, ...]:
        """Return the rounds of a group, without further games."""
        return tuple(round_robin(self.groups[name], double=True, stage="group", group=name))

    def standings(self, results: Results) -> tuple[Standing, ...]:
        """Return the table of each group."""
        return tuple(
            standing(teams, self.group_rounds(name), TieBreaker("group", name, results, self.seed))
            for name, teams in self.groups.items()
        )

    def bracket(self, results: Results) -> Bracket:
        """Return the ties of the knockout; () until all groups are settled."""
        standings = self.standings(results)
        if not all(one.done for one in standings):
            return ()
        before = [
            results[game]
            for name in self.groups
            for games in self.group_rounds(name)
            for game in games
        ]
        slots = seeded(crossed(by_strength(standings)))
        return bracket(slots, results, self.seed, before)

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


def by_strength(standings: Iterable[Standing]) -> list[tuple[str, str]]:
    """Return winner and runner-up of groups, the group with the strongest winner first.

    Strength is the share of games won, as groups may differ in size, then the score ratio; where
    both are equal the order of the groups stays.
    """
    firsts = [one.rows[:ADVANCING] for one in standings]
    firsts.sort(key=lambda rows: (rows[0].record.share, rows[0].record.ratio), reverse=True)
    return [(winner.team, runner_up.team) for winner, runner_up in firsts]


def side_by_side(orders: Iterable[Order]) -> Order:
    """Merge orders: all that are first in theirs are equal, then all that are second, ..."""
    merged = (
        tuple(sorted(chain.from_iterable(parts))) for parts in zip_longest(*orders, fillvalue=())
    )
    return tuple(equal for equal in merged if equal)


@dataclass(frozen=True, slots=True)
class Knockout:
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

    def order(self, results: Results) -> Order:
        """Order the teams by how far they came."""
        return places(self.bracket(results))


@dataclass(frozen=True, slots=True)
class League:
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
        """Return the rounds of the table, then further games for its first places."""
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

    def standings(self, results: Results) -> tuple[Standing, ...]:
        """Return the one table."""
        rounds = tuple(self.table_rounds(results))
        judge = TieBreaker(self.format, None, results, self.seed)
        # The challenger of a gauntlet plays most games, so its first place says nothing.
        places = 0 if self.format == "gauntlet" else ADVANCING
        rests = count_rests(self.teams, rounds) if self.format == "swiss" else NO_RESTS
        return (standing(self.teams, rounds, judge, places, rests),)

    def bracket(self, results: Results) -> Bracket:
        """Return no tie."""
        return ()

    def order(self, results: Results) -> Order:
        """Order the teams as in the table."""
        return self.standings(results)[0].settled.order


def make_contest(
    format: str,  # noqa: A002
    teams: Sequence[str],
    seed: int,
    *,
    groups: int | Mapping[str, Sequence[str]] | None = None,
    meetings: int | None = None,
) -> Contest:
    """Make a contest of teams; raise UsageError for what cannot be.

    `groups` of a championship are given, or drawn from the seed: so many, or the usual number. All
    other formats take the teams in their order, the strongest first.
    """
    if groups is not None and format != "championship":
        raise UsageError(f"only a championship has groups, not the format {format!r}")
    if meetings is not None and format != "swiss":
        raise UsageError(f"only a Swiss contest has a number of meetings, not {format!r}")
    if format == "championship":
        if isinstance(groups, Mapping):
            return Championship(check_groups(groups, teams), seed)
        return Championship(draw_groups(teams, seed, groups), seed)
    if format == "knockout":
        return Knockout(tuple(teams), seed)
    for known in get_args(TableFormat):
        if format == known:
            return League(known, tuple(teams), seed, meetings)
    raise UsageError(f"unknown format {format!r}; known: {', '.join(FORMATS)}")
