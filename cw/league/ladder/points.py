"""Points for the results of a round, depending on who stands higher."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final, Generic, Literal, TypeAlias

from cw.league.ladder.rounds import T

Outcome: TypeAlias = Literal["won", "drawn", "lost"]
EvenGames: TypeAlias = Literal["none", "score"]
"""What decides a match with equally many games won: nothing, or the sum of scores."""

POINTS: Final[Mapping[str, int]] = {
    "win_higher": 4,
    "win_lower": 2,
    "draw_higher": 1,
    "draw_lower": 0,
}
"""The default points of a result; opponents on the same position count as lower."""


@dataclass(frozen=True, slots=True)
class GameResult:
    """How one game of a match ended: ranks and scores by seat."""

    ranks: Sequence[int | None]
    scores: Sequence[float | None]

    def is_above(self, seat: int, other: int) -> bool:
        """Return whether a seat ranks above another; an unranked seat is below all others."""
        rank, other_rank = self.ranks[seat], self.ranks[other]
        return rank is not None and (other_rank is None or rank < other_rank)


@dataclass(frozen=True, slots=True)
class PairResult:
    """The result of a match between two of its seats, seen from one of them."""

    won: int
    """Games won."""
    lost: int
    score: float
    """Sum over the games."""
    against: float
    tiebreak: EvenGames = "none"

    @property
    def outcome(self) -> Outcome:
        """Return whether the match was won, drawn or lost."""
        lead = self.won - self.lost
        if not lead and self.tiebreak == "score":
            return outcome_of(self.score - self.against)
        return outcome_of(lead)

    def __str__(self) -> str:
        """Return it in the form `2:0`."""
        return f"{self.won}:{self.lost}"


def outcome_of(lead: float) -> Outcome:
    """Return the outcome for a lead."""
    return "won" if lead > 0 else "lost" if lead < 0 else "drawn"


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
    """How results become points."""

    points: Mapping[str, int]
    """Points by the keys of POINTS."""
    factor: int = 1
    tiebreak: EvenGames = "none"

    def worth(self, outcome: Outcome, position: int, opponent: int) -> int:
        """Return the points of an outcome, given both positions."""
        if outcome == "lost":
            return 0
        result = "win" if outcome == "won" else "draw"
        # Positions count from 1, so the smaller number is the higher place.
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
    """Own scores minus those of the opponents."""

    def plus(self, other: Tally) -> Tally:
        """Return the sums of both."""
        return Tally(
            self.points + other.points,
            self.won + other.won,
            self.drawn + other.drawn,
            self.lost + other.lost,
            self.games_diff + other.games_diff,
            self.score_diff + other.score_diff,
        )


Crosstable: TypeAlias = Mapping[tuple[T, T], Tally]
"""The tally of each entry against each other one."""


def tally(
    games: Sequence[GameResult], seat: int, other: int, positions: Sequence[int], scoring: Scoring
) -> Tally:
    """Return the tally of a match for one seat against another; `positions` are by seat."""
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
    """A match that counts: its entries by seat, and how its games ended."""

    entries: tuple[T, ...]
    games: tuple[GameResult, ...]


def crosstable(
    matches: Iterable[PlayedMatch[T]], positions: Mapping[T, int], scoring: Scoring
) -> Crosstable[T]:
    """Return the tally of each entry against each other in the matches of a round.

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
    """Return the tally of each entry against all others."""
    sums: dict[T, Tally] = {}
    for (entry, _), met in table.items():
        sums[entry] = sums.get(entry, Tally()).plus(met)
    return sums


def match_points(
    games: Sequence[GameResult], positions: Sequence[int], scoring: Scoring
) -> tuple[int, ...]:
    """Return the points of a match by seat; `positions` are by seat too."""
    seats = tuple(range(len(positions)))
    sums = summed(
        crosstable([PlayedMatch(seats, tuple(games))], dict(enumerate(positions)), scoring)
    )
    return tuple(sums.get(seat, Tally()).points for seat in seats)
