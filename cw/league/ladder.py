"""The ladder of a group of teams: what its rounds are, and what their results are worth.

Entries are any values that can be told apart and ordered, such as the ids of teams. Nothing here
keeps anything: each function returns what follows from what it is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from random import Random
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar

from cw.league.schedule import circle_round, circle_rounds

Outcome: TypeAlias = Literal["won", "drawn", "lost"]
TieBreak: TypeAlias = Literal["none", "score"]
Mode: TypeAlias = Literal["add", "replace"]
EventKind: TypeAlias = Literal["start", "boards", "pause", "resume", "final", "end", "note"]
Phase: TypeAlias = Literal["waiting", "running", "paused", "closing", "over"]

POINTS: Final[Mapping[str, int]] = {
    "win_higher": 4,
    "win_lower": 2,
    "draw_higher": 1,
    "draw_lower": 0,
}
"""What a result is worth by default; opponents on the same position count as lower."""

PASSED_BY: Final[frozenset[EventKind]] = frozenset({"pause", "resume", "note"})
"""What is applied even while a final waits for the rounds before it."""


class Ordered(Hashable, Protocol):
    """An entry: all draws start from an order that does not depend on how they came."""

    def __lt__(self, other: Any, /) -> bool:
        """Return whether it comes first."""


T = TypeVar("T", bound=Ordered)


# Boards


@dataclass(frozen=True, slots=True)
class Board:
    """A type of boards that rounds are played on."""

    name: str
    options: Mapping[str, Any]
    """Of the game."""
    factor: int = 1
    """What the points of its matches are multiplied by."""

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> Board:
        """Read what `to_json` has written."""
        return Board(document["name"], document["options"], document["factor"])

    def to_json(self) -> dict[str, Any]:
        """Return the form in which events and rounds keep it."""
        return {"name": self.name, "options": dict(self.options), "factor": self.factor}


def active_boards(lists: Iterable[tuple[Mode, Sequence[Board]]]) -> list[Board]:
    """Return the types that are played on, after the lists of all applied events in their order."""
    active: list[Board] = []
    for mode, boards in lists:
        active = [] if mode == "replace" else active
        active += [board for board in boards if board not in active]
    return active


def next_board(active: Sequence[Board], used: Sequence[Board]) -> Board:
    """Return the type whose last use is longest ago; unused ones come first, in their order.

    `used` are those of all rounds of the group, the earliest first.
    """
    last = {id(board): -1 for board in active}
    for number, earlier in enumerate(used):
        last |= {id(board): number for board in active if board == earlier}
    return min(active, key=lambda board: last[id(board)])


# Plans


def derived_seed(bits: int, seed: int, *parts: int | str) -> int:
    """Return a seed that depends on another one and on what it is for, and on nothing else."""
    return Random(" ".join(map(str, (seed, *parts)))).getrandbits(bits)


def pairs(entries: Iterable[T], seed: int) -> list[tuple[T, T]]:
    """Return the matches of a round in which each two meet once, in order; who begins comes first.

    The rows of the circle method come in random order, and so do the matches of each: the load on
    each entry is even. Nobody, or one alone, plays none.
    """
    rng = Random(f"pairs {seed}")
    order = shuffled(sorted(entries), rng)
    if len(order) < 2:
        return []
    rows = shuffled(range(circle_rounds(len(order))), rng)
    met = [pair for row in rows for pair in shuffled(circle_round(len(order), row), rng)]
    return [(order[a], order[b]) if rng.random() < 0.5 else (order[b], order[a]) for a, b in met]


def seats(entries: Iterable[T], seed: int) -> tuple[T, ...]:
    """Return who sits where in a match of all entries."""
    return tuple(shuffled(sorted(entries), Random(f"seats {seed}")))


Some = TypeVar("Some")


def shuffled(values: Iterable[Some], rng: Random) -> list[Some]:
    """Return values in random order."""
    mixed = list(values)
    rng.shuffle(mixed)
    return mixed


# Results


@dataclass(frozen=True, slots=True)
class Battle:
    """How one game of a match ended; both have an entry for each participant of the match."""

    ranks: Sequence[int | None]
    scores: Sequence[float | None]

    def is_above(self, one: int, other: int) -> bool:
        """Return whether a participant was ranked above another one; without a rank is below."""
        first, second = self.ranks[one], self.ranks[other]
        return first is not None and (second is None or first < second)


@dataclass(frozen=True, slots=True)
class Result:
    """What a participant of a match has made of another one."""

    won: int
    """Battles."""
    lost: int
    score: float
    against: float
    tiebreak: TieBreak = "none"

    @property
    def outcome(self) -> Outcome:
        """Return who has won the match."""
        ahead = self.won - self.lost
        if not ahead and self.tiebreak == "score":
            return outcome_of(self.score - self.against)
        return outcome_of(ahead)

    def __str__(self) -> str:
        """Return such as `2:0`."""
        return f"{self.won}:{self.lost}"


def outcome_of(ahead: float) -> Outcome:
    """Return the word for a lead."""
    return "won" if ahead > 0 else "lost" if ahead < 0 else "drawn"


def result(battles: Iterable[Battle], one: int, other: int, tiebreak: TieBreak = "none") -> Result:
    """Return what one participant of a match has made of another."""
    played = list(battles)
    return Result(
        sum(battle.is_above(one, other) for battle in played),
        sum(battle.is_above(other, one) for battle in played),
        sum(battle.scores[one] or 0 for battle in played),
        sum(battle.scores[other] or 0 for battle in played),
        tiebreak,
    )


@dataclass(frozen=True, slots=True)
class Ways:
    """How results become points."""

    points: Mapping[str, int]
    """As POINTS has them."""
    factor: int = 1
    tiebreak: TieBreak = "none"

    def worth(self, outcome: Outcome, own: int, opponent: int) -> int:
        """Return the points of a result by both positions."""
        if outcome == "lost":
            return 0
        what = "win" if outcome == "won" else "draw"
        where = "higher" if opponent < own else "lower"
        return self.points[f"{what}_{where}"] * self.factor


@dataclass(frozen=True, slots=True)
class Tally:
    """What an entry has made of matches."""

    points: int = 0
    won: int = 0
    drawn: int = 0
    lost: int = 0
    battles: int = 0
    """Won minus lost."""
    scores: float = 0
    """Own minus those of opponents."""

    def plus(self, other: Tally) -> Tally:
        """Return the sums of both."""
        return Tally(
            self.points + other.points,
            self.won + other.won,
            self.drawn + other.drawn,
            self.lost + other.lost,
            self.battles + other.battles,
            self.scores + other.scores,
        )


def tally(
    battles: Sequence[Battle], positions: Sequence[int], ways: Ways
) -> list[list[Tally | None]]:
    """Return what each participant of a match has made of each other, None of itself.

    `positions` are those of the participants at the start of the round.
    """
    return [
        [
            None if one == other else counted(battles, one, other, positions, ways)
            for other in range(len(positions))
        ]
        for one in range(len(positions))
    ]


def counted(
    battles: Sequence[Battle], one: int, other: int, positions: Sequence[int], ways: Ways
) -> Tally:
    """Return what one participant of a match has made of another."""
    said = result(battles, one, other, ways.tiebreak)
    outcome = said.outcome
    return Tally(
        ways.worth(outcome, positions[one], positions[other]),
        int(outcome == "won"),
        int(outcome == "drawn"),
        int(outcome == "lost"),
        said.won - said.lost,
        said.score - said.against,
    )


def points(battles: Sequence[Battle], positions: Sequence[int], ways: Ways) -> list[int]:
    """Return the points of each participant of a match."""
    return [
        sum(against.points for against in row if against is not None)
        for row in tally(battles, positions, ways)
    ]


@dataclass(frozen=True)
class Played:
    """A match that counts: who took part, and how its battles ended."""

    entries: tuple[Any, ...]
    battles: tuple[Battle, ...]


def scored(
    matches: Iterable[Played], positions: Mapping[Any, int], ways: Ways
) -> dict[tuple[Any, Any], Tally]:
    """Return what each entry has made of each other in the matches of a round."""
    made: dict[tuple[Any, Any], Tally] = {}
    for match in matches:
        rows = tally(match.battles, [positions[entry] for entry in match.entries], ways)
        for one, row in zip(match.entries, rows, strict=True):
            for other, against in zip(match.entries, row, strict=True):
                if against is not None:
                    made[one, other] = made.get((one, other), Tally()).plus(against)
    return made


def summed(made: Mapping[tuple[T, Any], Tally]) -> dict[T, Tally]:
    """Return what each entry has made of all others."""
    sums: dict[T, Tally] = {}
    for (entry, _), against in made.items():
        sums[entry] = sums.get(entry, Tally()).plus(against)
    return sums


# Places


def positions(totals: Mapping[T, float], competing: Collection[T]) -> dict[T, int]:
    """Return the position of each entry: 1, and 1 more for each competing one with more points.

    So it is for those that are out of competition.
    """
    having = Counter(totals[entry] for entry in competing)
    above: dict[float, int] = {}
    more = 0
    for total in sorted(set(totals.values()), reverse=True):
        above[total] = more
        more += having[total]
    return {entry: 1 + above[total] for entry, total in totals.items()}


@dataclass(frozen=True)
class Standing:
    """An entry at the end, and what tells it apart from others with equal points."""

    entry: Any
    points: float
    battles: int = 0
    scores: float = 0

    @cached_property
    def key(self) -> tuple[float, int, float]:
        """What is compared at first."""
        return self.points, self.battles, self.scores


def ranking(
    standings: Iterable[Standing], between: Mapping[tuple[Any, Any], float], seed: int
) -> list[Any]:
    """Return entries in the order in which they win prizes and go to the final.

    Equal points are told apart by battles, scores, the points they have made of each other
    (`between`: of the first by the second), and at last a lot.
    """
    ordered = sorted(standings, key=lambda one: one.key, reverse=True)
    equal = [[one.entry for one in some] for _, some in groupby(ordered, lambda one: one.key)]
    return [entry for some in equal for entry in apart(some, between, seed)]


def apart(
    equal: Sequence[Any], between: Mapping[tuple[Any, Any], float], seed: int
) -> Iterator[Any]:
    """Yield equal entries by the points among them, again among those that stay equal."""
    gained = {
        one: sum(between.get((one, other), 0) for other in equal if other != one) for one in equal
    }
    ordered = sorted(equal, key=lambda one: gained[one], reverse=True)
    parts = [list(some) for _, some in groupby(ordered, gained.__getitem__)]
    if len(parts) == 1:
        yield from shuffled(sorted(equal), Random(f"lot {seed}"))
        return
    for part in parts:
        yield from apart(part, between, seed)


# Events


@dataclass(frozen=True, slots=True)
class Happened:
    """An event that is due."""

    kind: EventKind
    applied: bool = True
    """Whether it has taken effect; a final waits for the rounds before it."""


def due_now(kinds: Sequence[EventKind], *, is_final_ready: bool) -> int | None:
    """Return which of the events that are due and not applied, in their order, is applied next.

    None if none can be. A final waits until the rounds before it are closed, and holds back all
    that comes after it but what pauses and tells.
    """
    waits = False
    for number, kind in enumerate(kinds):
        if not waits and (kind != "final" or is_final_ready):
            return number
        if waits and kind in PASSED_BY:
            return number
        waits = True
    return None


def phase(events: Iterable[Happened], *, is_final: bool, is_open: bool) -> Phase:
    """Return how far a group is, by the events about it in their order.

    `is_final` says whether it is that of the final, `is_open` whether a round is open. A final that
    waits lets the other groups play their last round to its end.
    """
    begun = ended = held = False
    for event in events:
        if event.kind == "final" and is_final:
            begun = begun or event.applied
        elif event.kind in ("final", "end"):
            ended = True
        elif event.kind == "start" and not is_final:
            begun = True
        elif event.kind in ("pause", "resume"):
            held = event.kind == "pause"
    if not begun:
        return "over" if ended else "waiting"
    if ended and not is_open:
        return "over"
    if held:
        return "paused"
    return "closing" if ended else "running"
