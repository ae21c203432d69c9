"""The games of a contest: which are to be played, and how they ended.

All formats speak through these values. A format is a function of the teams and of the results so
far; it gives the rounds that these settle, in order, and stops where a result is missing. It keeps
nothing, so a contest is resumed by reading its results and asking again:

    while to_play := open_fixtures(contest.rounds(results), results):
        ...play them, in any order, and put each result into `results`...
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Ended: TypeAlias = Literal["finished", "illegal", "timeout"]
"""Why a game was over."""

TIE_BREAK_OPENING: Final = 4
"""Random segments with which a further game starts."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """A game that a format asks for; no contest asks for two that are equal."""

    stage: str
    """As in `group`, `swiss`, `quarter-final`."""
    group: str | None
    round: int
    """From 1, within the stage or the pair of further games; nobody plays twice in a round."""
    first: str
    """The team in the first seat."""
    second: str
    extra: int = 0
    """The number of the pair of further games that are to break a tie; 0 for all other games."""

    @property
    def opening(self) -> int:
        """Return the number of random segments that the format itself asks for."""
        return TIE_BREAK_OPENING if self.extra else 0

    @property
    def meeting(self) -> str:
        """Name what both legs have in common: to be part of the seed of their opening."""
        pair = sorted((self.first, self.second))
        return f"{self.stage} {self.group or '-'} {self.extra} {' '.join(pair)}"


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended, as a contest counts it."""

    first: str
    second: str
    winner: str
    score: tuple[int, int]
    """Points of the first seat and of the second."""
    ended: Ended = "finished"


Results: TypeAlias = Mapping[Fixture, Result]
"""All that a contest has to remember."""

Round: TypeAlias = tuple[Fixture, ...]
"""Games that can be played at the same time: no team has two of them."""


def forfeited(first: str, second: str, loser: str, ended: Ended, size: int) -> Result:
    """Count a game that the loser did not finish: every square of the board for the other team."""
    lost_first = loser == first
    score = (0, size * size) if lost_first else (size * size, 0)
    return Result(first, second, second if lost_first else first, score, ended)


def open_fixtures(rounds: Iterable[Round], results: Results) -> list[Fixture]:
    """Return the games that can be played now, in order; none if the contest is over."""
    return [game for games in rounds for game in games if game not in results]


def both_seats(
    stage: str, group: str | None, number: int, pairs: Iterable[tuple[str, str]]
) -> Iterator[Round]:
    """Return the two rounds, from this number on, in which pairs of teams meet in both seats."""
    given = tuple(pairs)
    yield tuple(Fixture(stage, group, number, a, b) for a, b in given)
    yield tuple(Fixture(stage, group, number + 1, b, a) for a, b in given)
