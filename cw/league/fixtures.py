"""The matches of a contest: fixtures still to be played, and results.

The terms of this package, each with one meaning: a *fixture* is a match that a format asks for, a
*result* is how it ended, a *round* is a set of fixtures in which no player appears twice, a
*meeting* is the fixtures of the same players in different seats, and a *tie-break match* separates
players whose other matches left them equal.

All formats use these values. A format is a function of the players and of the results so far; it
yields the rounds that these determine, in order, and stops where a result is missing. It keeps no
state, so a contest is resumed by reading its results and asking again:

    while to_play := open_fixtures(contest.rounds(results), results):
        ...play them, in any order, and put each result into `results`...
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Fixture:
    """A match that a format asks for; no two fixtures of a contest are equal.

    >>> Fixture("group", "A", 1, ("ann", "bob")).meeting
    'group A 0 ann bob'
    """

    stage: str
    """Such as `group`, `swiss`, `quarter-final`."""
    group: str | None
    round: int
    """From 1, within the stage or pair of tie-break matches; no player appears twice in a round."""
    players: tuple[str, ...]
    """In seat order."""
    tie_break: int = 0
    """The number of its pair of tie-break matches; 0 for all other matches."""

    @property
    def meeting(self) -> str:
        """Return a text shared by all fixtures of a meeting, from which their seed is derived.

        A match of more than two players is a meeting by itself.
        """
        names = " ".join(sorted(self.players))
        alone = f" round {self.round}" if len(self.players) > 2 else ""
        return f"{self.stage} {self.group or '-'} {self.tie_break} {names}{alone}"


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended, as contests count it; all tuples are in seat order.

    >>> Result(("ann", "bob", "cy"), (2, 1, 3), (5, 9, 0)).winner
    'bob'
    """

    players: tuple[str, ...]
    ranks: tuple[int, ...]
    """From 1; players who drew share a rank."""
    scores: tuple[float, ...]
    """Points of 0 or more."""
    ended: str = "finished"
    """The game's name for the way it ended."""

    @property
    def winner(self) -> str | None:
        """Return the only player of the best rank, or None if several share it."""
        best = min(self.ranks)
        first = [p for p, rank in zip(self.players, self.ranks, strict=True) if rank == best]
        return first[0] if len(first) == 1 else None

    def among(self, some: Collection[str]) -> Result:
        """Return the result restricted to these players."""
        seats = [seat for seat, player in enumerate(self.players) if player in some]
        return Result(
            tuple(self.players[seat] for seat in seats),
            tuple(self.ranks[seat] for seat in seats),
            tuple(self.scores[seat] for seat in seats),
            self.ended,
        )


Outcome: TypeAlias = Literal["won", "drawn", "lost"]


def outcome_of(rank: int | None, first: int) -> Outcome:
    """Return how a match ended for a player with this rank, if `first` players have rank 1.

    The only first player has won, several have drawn, and all others have lost. If nobody is
    ranked first, all have drawn.

    >>> outcome_of(1, first=1), outcome_of(1, first=2), outcome_of(2, first=2)
    ('won', 'drawn', 'lost')
    """
    if first == 0:
        return "drawn"
    if rank != 1:
        return "lost"
    return "won" if first == 1 else "drawn"


Results: TypeAlias = Mapping[Fixture, Result]
"""The whole state of a contest."""

Round: TypeAlias = tuple[Fixture, ...]
"""Fixtures that can be played at the same time: no player appears in two of them."""


def open_fixtures(rounds: Iterable[Round], results: Results) -> list[Fixture]:
    """Return the fixtures that can be played now, in order; [] if the contest is over.

    >>> rounds = [(Fixture("final", None, 1, ("ann", "bob")),)]
    >>> open_fixtures(rounds, {}) == list(rounds[0])
    True
    """
    return [fixture for fixtures in rounds for fixture in fixtures if fixture not in results]


def both_seats(
    stage: str, group: str | None, number: int, pairs: Iterable[tuple[str, str]]
) -> Iterator[Round]:
    """Yield two rounds, numbered from `number`, in which pairs of players meet in both seats."""
    meetings = tuple(pairs)
    yield tuple(Fixture(stage, group, number, (a, b)) for a, b in meetings)
    yield tuple(Fixture(stage, group, number + 1, (b, a)) for a, b in meetings)
