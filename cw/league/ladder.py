"""The ladder: rounds in which all teams meet, with more points for beating a higher-ranked one.

Entries are any hashable, ordered values, such as team ids. All functions are pure. A tournament of
the hub plays the rounds one by one; `contest` presents a ladder like any other contest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise, permutations
from random import Random
from typing import Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar

from cw.errors import UsageError
from cw.league.contests import Contest
from cw.league.fixtures import Fixture, Outcome, Results, Round, open_fixtures
from cw.league.groups import StageTable, played
from cw.league.schedule import check_teams, circle_round, circle_rounds
from cw.league.standings import Order, table
from cw.league.tie_break_matches import Settled

Mode: TypeAlias = Literal["add", "replace"]


@dataclass(frozen=True, slots=True)
class BoardSpec:
    """A board type for rounds."""

    name: str
    options: Mapping[str, Any]
    """The game's options."""
    factor: int = 1
    """Factor by which points of its matches are multiplied."""

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> BoardSpec:
        """Return the board type from JSON written by `to_json`."""
        return BoardSpec(document["name"], document["options"], document["factor"])

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object that is stored in events and rounds."""
        return {"name": self.name, "options": dict(self.options), "factor": self.factor}


def active_boards(lists: Iterable[tuple[Mode, Sequence[BoardSpec]]]) -> list[BoardSpec]:
    """Return the board types in use after applying the lists of all events in order."""
    active: list[BoardSpec] = []
    for mode, boards in lists:
        active = [] if mode == "replace" else active
        active += [board for board in boards if board not in active]
    return active


def next_board(active: Sequence[BoardSpec], used: Sequence[BoardSpec]) -> BoardSpec:
    """Return the least recently used board type; unused ones come first, in list order.

    `used` contains the board of each round of the group, the earliest first.
    """
    # Compared by identity, as their options make board types unhashable.
    last = {id(board): -1 for board in active}
    for number, earlier in enumerate(used):
        last |= {id(board): number for board in active if board == earlier}
    return min(active, key=lambda board: last[id(board)])


EventKind: TypeAlias = Literal["start", "boards", "pause", "resume", "final", "end", "note"]
Phase: TypeAlias = Literal["waiting", "running", "paused", "closing", "over"]

STOPS: Final[frozenset[EventKind]] = frozenset({"pause", "resume"})
"""Events that stop a group, or let it continue, immediately."""

PASSED_BY: Final[frozenset[EventKind]] = STOPS | {"note"}
"""Events that are applied even while a final waits for earlier rounds."""


@dataclass(frozen=True, slots=True)
class GroupEvent:
    """A due event, for one group or all groups."""

    kind: EventKind
    applied: bool = True
    """False while a final waits for earlier rounds to be closed."""


def due_now(kinds: Sequence[EventKind], *, is_final_ready: bool) -> int | None:
    """Return the index of the next event to apply, among those due and not yet applied, or None.

    A final waits until the earlier rounds are closed, and delays all later events except those in
    PASSED_BY.
    """
    is_waiting = False
    for index, kind in enumerate(kinds):
        if not is_waiting and (kind != "final" or is_final_ready):
            return index
        if is_waiting and kind in PASSED_BY:
            return index
        is_waiting = True
    return None


def phase(events: Iterable[GroupEvent], *, is_final: bool, is_open: bool) -> Phase:
    """Return the phase of a group, given its events in order.

    `is_final` means that it is the group of the final, `is_open` that it has an open round. While a
    final waits, the other groups finish their last round.
    """
    has_begun = has_ended = is_paused = False
    for event in events:
        if event.kind == "final" and is_final:
            has_begun = has_begun or event.applied
        elif event.kind in ("final", "end"):
            has_ended = True
        elif event.kind == "start" and not is_final:
            has_begun = True
        elif event.kind in STOPS:
            is_paused = event.kind == "pause"
    if not has_begun:
        return "over" if has_ended else "waiting"
    if has_ended and not is_open:
        return "over"
    if is_paused:
        return "paused"
    return "closing" if has_ended else "running"


class Ordered(Hashable, Protocol):
    """An entry; random draws start from sorted entries, so they do not depend on input order."""

    def __lt__(self, other: Any, /) -> bool:
        """Return whether this entry comes first."""


T = TypeVar("T", bound=Ordered)


def derived_seed(bits: int, seed: int, *parts: int | str) -> int:
    """Return a seed of `bits` bits that depends only on `seed` and `parts`."""
    return Random(" ".join(map(str, (seed, *parts)))).getrandbits(bits)


def pairs(entries: Iterable[T], seed: int) -> list[tuple[T, T]]:
    """Return the matches of a round in which all entries meet once; the first mover comes first.

    The rows of the circle method are shuffled, and so are the matches within each row, to spread
    each entry's matches evenly over the round. With fewer than two entries there are no matches.

    >>> pairs(["ann", "bob", "cy"], seed=1)
    [('ann', 'bob'), ('cy', 'bob'), ('cy', 'ann')]
    """
    # Each purpose has its own prefix, so that draws for pairs and seats with the same seed are
    # independent.
    rng = Random(f"pairs {seed}")
    # Sorted before shuffling: the plan must not depend on the order of database rows.
    order = shuffled(sorted(entries), rng)
    if len(order) < 2:
        return []
    rows = shuffled(range(circle_rounds(len(order))), rng)
    planned = [pair for row in rows for pair in shuffled(circle_round(len(order), row), rng)]
    return [
        (order[a], order[b]) if rng.random() < 0.5 else (order[b], order[a]) for a, b in planned
    ]


def seats(entries: Iterable[T], seed: int) -> tuple[T, ...]:
    """Return all entries in random seat order, for a match between all of them."""
    return tuple(shuffled(sorted(entries), Random(f"seats {seed}")))


Item = TypeVar("Item")


def shuffled(values: Iterable[Item], rng: Random) -> list[Item]:
    """Return values in random order."""
    copy = list(values)
    rng.shuffle(copy)
    return copy


TieBreak: TypeAlias = Literal["battles", "scores", "meetings", "lot"]
"""What ranks an entry above another with equal points."""

FIGURES: Final[tuple[TieBreak | None, ...]] = (None, "battles", "scores")
"""The tie-break behind each value of `EntryTotals.key`; the points are no tie-break."""


@dataclass(frozen=True)
class EntryTotals(Generic[T]):
    """The totals of an entry over all rounds, which decide the final order."""

    entry: T
    points: float
    games_diff: int = 0
    score_diff: float = 0

    @property
    def key(self) -> tuple[float, int, float]:
        """The values compared first, in this order; higher is better."""
        return self.points, self.games_diff, self.score_diff


def final_order(
    totals: Iterable[EntryTotals[T]], head_to_head: Mapping[tuple[T, T], float], seed: int
) -> list[T]:
    """Return entries in the order that decides prizes and the final.

    Ties on points are broken by games won minus lost, then by scores, then by the points among the
    tied (`head_to_head`: of the first against the second), and finally by a lot drawn from the
    seed.
    """
    return [ranked.entry for ranked in final_table(totals, head_to_head, seed)]


@dataclass(frozen=True, slots=True)
class Ranked(Generic[T]):
    """An entry in the final order."""

    entry: T
    totals: EntryTotals[T]
    ahead_by: TieBreak | None
    """What ranks it above the next one; None if that is points, and for the last entry."""


def final_table(
    totals: Iterable[EntryTotals[T]], head_to_head: Mapping[tuple[T, T], float], seed: int
) -> list[Ranked[T]]:
    """Return the final order, with the tie-break that separated entries of equal points.

    >>> ann, bob = EntryTotals("ann", 9, games_diff=1), EntryTotals("bob", 9, games_diff=2)
    >>> [(row.entry, row.ahead_by) for row in final_table([ann, bob], {}, seed=1)]
    [('bob', 'battles'), ('ann', None)]
    """
    ordered = sorted(totals, key=lambda entry: entry.key, reverse=True)
    by_entry = {row.entry: row for row in ordered}
    ties = [[row.entry for row in tied] for _, tied in groupby(ordered, lambda row: row.key)]
    lots = [lot for tied in ties for lot in untied(tied, head_to_head, seed)]
    number = {entry: index for index, lot in enumerate(lots) for entry in lot}
    order = [entry for lot in lots for entry in lot]
    decided = [
        "lot" if number[one] == number[other] else tie_break(by_entry[one], by_entry[other])
        for one, other in pairwise(order)
    ]
    return [
        Ranked(entry, by_entry[entry], ahead_by)
        for entry, ahead_by in zip(order, [*decided, None], strict=False)
    ]


def tie_break(one: EntryTotals[T], other: EntryTotals[T]) -> TieBreak | None:
    """Return the tie-break that ranks an entry above the next one, unless that was a lot."""
    figures = zip(FIGURES, one.key, other.key, strict=True)
    return next((name for name, mine, its in figures if mine != its), "meetings")


def untied(
    tied: Sequence[T], head_to_head: Mapping[tuple[T, T], float], seed: int
) -> Iterator[list[T]]:
    """Yield tied entries by the points among them, recursively for those that stay tied.

    Inseparable entries are yielded as one list, in an order drawn by lot.
    """
    points = {
        entry: sum(head_to_head.get((entry, other), 0) for other in tied if other != entry)
        for entry in tied
    }
    ordered = sorted(tied, key=points.__getitem__, reverse=True)
    parts = [list(part) for _, part in groupby(ordered, points.__getitem__)]
    if len(parts) == 1:
        # The points among them no longer separate any entries: only a lot is left.
        yield list(shuffled(sorted(tied), Random(f"lot {seed}")))
        return
    for part in parts:
        yield from untied(part, head_to_head, seed)


def positions(totals: Mapping[T, float], competing: Collection[T]) -> dict[T, int]:
    """Return the position of each entry: 1, plus the number of competing ones with more points.

    Entries out of competition have positions too, but do not affect those of others.

    >>> positions({"ann": 9, "bob": 4, "cy": 4, "dan": 1}, competing={"ann", "bob", "cy", "dan"})
    {'ann': 1, 'bob': 2, 'cy': 2, 'dan': 4}
    """
    competitors = Counter(totals[entry] for entry in competing)
    position: dict[float, int] = {}
    following = 1
    for total in sorted(set(totals.values()), reverse=True):
        position[total] = following
        following += competitors[total]
    return {entry: position[total] for entry, total in totals.items()}


EvenGames: TypeAlias = Literal["none", "score"]
"""The tie-break of a match with equal games won: none, or the sum of scores."""

POINTS: Final[Mapping[str, int]] = {
    "win_higher": 4,
    "win_lower": 2,
    "draw_higher": 1,
    "draw_lower": 0,
}
"""The default points of a result; opponents at the same position count as lower."""


@dataclass(frozen=True, slots=True)
class GameResult:
    """How one game of a match ended, with ranks and scores by seat."""

    ranks: Sequence[int | None]
    scores: Sequence[float | None]

    def is_above(self, seat: int, other: int) -> bool:
        """Return whether a seat ranks above another; an unranked seat is below all others."""
        rank, other_rank = self.ranks[seat], self.ranks[other]
        return rank is not None and (other_rank is None or rank < other_rank)


@dataclass(frozen=True, slots=True)
class PairResult:
    """The result of a match between two seats, from the point of view of one of them."""

    won: int
    """Games won."""
    lost: int
    score: float
    """Sum over all games."""
    against: float
    tiebreak: EvenGames = "none"

    @property
    def outcome(self) -> Outcome:
        """Return whether the match was won, drawn or lost."""
        lead: float = self.won - self.lost
        if not lead and self.tiebreak == "score":
            lead = self.score - self.against
        return "won" if lead > 0 else "lost" if lead < 0 else "drawn"

    def __str__(self) -> str:
        """Return the games won and lost in the form `2:0`."""
        return f"{self.won}:{self.lost}"


def result(
    games: Iterable[GameResult], seat: int, other: int, tiebreak: EvenGames = "none"
) -> PairResult:
    """Return the result of a match for one seat against another."""
    games = list(games)
    return PairResult(
        sum(game.is_above(seat, other) for game in games),
        sum(game.is_above(other, seat) for game in games),
        sum(game.scores[seat] or 0 for game in games),
        sum(game.scores[other] or 0 for game in games),
        tiebreak,
    )


@dataclass(frozen=True, slots=True)
class Scoring:
    """The rules for converting results into points."""

    points: Mapping[str, int]
    """Points by key, as in POINTS."""
    factor: int = 1
    tiebreak: EvenGames = "none"

    def worth(self, outcome: Outcome, position: int, opponent: int) -> int:
        """Return the points of an outcome, given both positions."""
        if outcome == "lost":
            return 0
        result = "win" if outcome == "won" else "draw"
        # Positions count from 1, so the smaller number is the higher position.
        side = "higher" if opponent < position else "lower"
        return self.points[f"{result}_{side}"] * self.factor


@dataclass(frozen=True, slots=True)
class Tally:
    """An entry's points and results, summed over matches."""

    points: int = 0
    won: int = 0
    drawn: int = 0
    lost: int = 0
    games_diff: int = 0
    """Games won minus games lost."""
    score_diff: float = 0
    """Own scores minus the opponents' scores."""

    def plus(self, other: Tally) -> Tally:
        """Return the sum of both tallies."""
        return Tally(
            self.points + other.points,
            self.won + other.won,
            self.drawn + other.drawn,
            self.lost + other.lost,
            self.games_diff + other.games_diff,
            self.score_diff + other.score_diff,
        )


Crosstable: TypeAlias = Mapping[tuple[T, T], Tally]
"""The tally of each entry against each other entry."""


def tally(
    games: Sequence[GameResult], seat: int, other: int, positions: Sequence[int], scoring: Scoring
) -> Tally:
    """Return the tally of a match for one seat against another; `positions` are indexed by seat."""
    match = result(games, seat, other, scoring.tiebreak)
    outcome = match.outcome
    return Tally(
        scoring.worth(outcome, positions[seat], positions[other]),
        int(outcome == "won"),
        int(outcome == "drawn"),
        int(outcome == "lost"),
        match.won - match.lost,
        match.score - match.against,
    )


@dataclass(frozen=True)
class PlayedMatch(Generic[T]):
    """A match that counts, with its entries by seat and its games' results."""

    entries: tuple[T, ...]
    games: tuple[GameResult, ...]


def crosstable(
    matches: Iterable[PlayedMatch[T]], positions: Mapping[T, int], scoring: Scoring
) -> Crosstable[T]:
    """Return the tally of each entry against each other entry in a round's matches.

    `positions` are those at the start of the round.
    """
    table: dict[tuple[T, T], Tally] = {}
    for match in matches:
        places = [positions[entry] for entry in match.entries]
        for (seat, entry), (other, opponent) in permutations(enumerate(match.entries), 2):
            met = tally(match.games, seat, other, places, scoring)
            table[entry, opponent] = table.get((entry, opponent), Tally()).plus(met)
    return table


def summed(table: Crosstable[T]) -> dict[T, Tally]:
    """Return each entry's tally against all others together."""
    sums: dict[T, Tally] = {}
    for (entry, _), met in table.items():
        sums[entry] = sums.get(entry, Tally()).plus(met)
    return sums


def match_points(
    games: Sequence[GameResult], positions: Sequence[int], scoring: Scoring
) -> tuple[int, ...]:
    """Return the points of a match by seat; `positions` are indexed by seat too."""
    seats = tuple(range(len(positions)))
    sums = summed(
        crosstable([PlayedMatch(seats, tuple(games))], dict(enumerate(positions)), scoring)
    )
    return tuple(sums.get(seat, Tally()).points for seat in seats)


LADDER: Final = "ladder"

USUAL_ROUNDS: Final = 3

MOST_ROUNDS: Final = 1000


@dataclass(frozen=True, slots=True)
class Ladder(Contest):
    """Rounds in which all teams meet each other, played one after the other.

    A win over a team that ranks higher at the start of the round is worth more (`POINTS`). In the
    final order no two teams share a rank; for the tie-breaks, see `final_order`.

    >>> ladder = Ladder(("ann", "bob", "cy"), seed=1, number=2)
    >>> [fixture.players for fixtures in ladder.rounds({}) for fixture in fixtures]
    [('bob', 'cy'), ('bob', 'ann'), ('cy', 'ann')]
    >>> ladder.expected({})
    6
    """

    teams: tuple[str, ...]
    seed: int
    number: int = USUAL_ROUNDS
    """The number of rounds."""

    def __post_init__(self) -> None:
        """Raise UsageError for invalid teams or an invalid number of rounds."""
        check_teams(self.teams)
        if not 1 <= self.number <= MOST_ROUNDS:
            raise UsageError(f"a ladder has 1 to {MOST_ROUNDS} rounds, not {self.number}")

    def rounds(self, results: Results) -> Iterator[Round]:
        """Yield the fixtures of each ladder round, up to and including the first unfinished one."""
        for number in range(1, self.number + 1):
            rows = self.fixtures(number)
            yield from rows
            if open_fixtures(rows, results):
                return

    def fixtures(self, number: int) -> tuple[Round, ...]:
        """Return the fixtures of a ladder round, in rows in which no team plays twice."""
        return fixtures_of(self.teams, self.seed, number)

    def expected(self, results: Results) -> int:
        """Return the total number of matches."""
        return self.number * len(self.teams) * (len(self.teams) - 1) // 2

    def crosstable(self, results: Results) -> Crosstable[str]:
        """Return each team's tally against each other team in all matches so far."""
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
        """Return the only table, sorted by points."""
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
    """Return the name of a round; each is a stage, so that its matches have their own seeds."""
    return f"round {number}"


@lru_cache(maxsize=64)
def fixtures_of(teams: tuple[str, ...], seed: int, number: int) -> tuple[Round, ...]:
    """Return the fixtures of a ladder round, in rows in which no team plays twice."""
    planned = pairs(teams, derived_seed(53, seed, LADDER, number))
    width = len(teams) // 2
    rows = [planned[start : start + width] for start in range(0, len(planned), width)]
    return tuple(
        tuple(Fixture(stage(number), None, row, players) for players in meetings)
        for row, meetings in enumerate(rows, 1)
    )


def by_points(points: dict[str, int]) -> Order:
    """Rank teams by points, grouping those with equal points."""
    best_first = sorted(set(points.values()), reverse=True)
    return tuple(
        tuple(sorted(team for team, total in points.items() if total == worth))
        for worth in best_first
    )
