"""The standings of a league: what its finished matches tell about each version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from cw.games.rules import Json
from cw.lab.journal import MatchLine
from cw.lab.league.versions import Version
from cw.league.information import Meetings, Strengths, most_informative, strengths
from cw.league.statistics.glicko2 import Rating
from cw.league.statistics.intervals import Z_95


@dataclass(frozen=True, slots=True)
class Place:
    """A version's row in the table."""

    name: str
    since: str
    """The day on which it was added; "" for built-in strategies and removed versions."""
    plays: bool
    """Whether it still plays: its bot is in the folder."""
    rating: Rating
    matches: int
    faults: int

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval of its rating, in Elo."""
        return Z_95 * self.rating.phi


@dataclass(frozen=True, slots=True)
class LeagueStandings:
    """The standings of a league at one moment."""

    matches: int
    places: tuple[Place, ...]
    """Strongest first."""
    cross: dict[tuple[str, str], tuple[float, int]]
    """By pair of versions: the first one's score against the second, and the number of matches."""


class LeagueTally:
    """The results of a league's matches, counted as they finish."""

    def __init__(self) -> None:
        """Start without matches."""
        self.names: dict[str, int] = {}
        self._matches = 0
        self._played = Counter[str]()
        self._faults = Counter[str]()
        self._meetings = Meetings.of(0, [])
        self._strengths: Strengths | None = None

    def take(self, lines: Sequence[MatchLine], names: Iterable[str]) -> None:
        """Count the new matches among all those of a journal, and add new names."""
        new = lines[self._matches :]
        for name in (*names, *(name for line in new for name in line.bots)):
            self.names.setdefault(name, len(self.names))
        self._meetings = self._meetings.grown(len(self.names))
        for line in new:
            seats = [self.names[name] for name in line.bots]
            self._meetings.add(seats, places(line.ranks))
            self._played.update(line.bots)
            for bad in line.faults:
                self._faults[bad.bot] += sum(bad.kinds.values())
        self._matches = len(lines)
        self._strengths = None

    @property
    def strengths(self) -> Strengths:
        """The estimated strengths of all versions."""
        if self._strengths is None:
            self._strengths = strengths(self._meetings)
        return self._strengths

    def next(
        self, playing: Sequence[str], flying: Iterable[Sequence[str]], seats: int, rng: Random
    ) -> tuple[str, ...]:
        """Return the versions of `playing` that meet next."""
        numbers = [self.names[name] for name in playing]
        here = {name: number for number, name in enumerate(playing)}
        known = Strengths(
            self.strengths.mu[numbers], self.strengths.covariance[np.ix_(numbers, numbers)]
        )
        matches = [[here[name] for name in match if name in here] for match in flying]
        return tuple(playing[number] for number in most_informative(known, matches, seats, rng))

    def standings(self, versions: Iterable[Version]) -> LeagueStandings:
        """Return the table, with current and former versions."""
        since = {version.name: version.since for version in versions}
        played, faults = self._played, self._faults
        ratings = self.strengths.ratings
        table = [
            Place(name, since.get(name, ""), name in since, ratings[at], played[name], faults[name])
            for name, at in self.names.items()
        ]
        table.sort(key=lambda place: (-place.rating.mu, place.name))
        return LeagueStandings(self._matches, tuple(table), self._cross())

    def _cross(self) -> dict[tuple[str, str], tuple[float, int]]:
        names, meetings = list(self.names), self._meetings
        return {
            (names[one], names[other]): (
                float(meetings.scores[one, other]),
                int(meetings.number[one, other]),
            )
            for one, other in zip(*np.nonzero(meetings.number), strict=True)
        }


def places(ranks: Sequence[int | None]) -> list[int]:
    """Return the ranks of a match; players without a rank share the last place."""
    return [len(ranks) + 1 if rank is None else rank for rank in ranks]


def document(standing: LeagueStandings) -> dict[str, Json]:
    """Return the standings as JSON."""
    return {
        "matches": standing.matches,
        "versions": [
            {
                "name": place.name,
                "since": place.since or None,
                "plays": place.plays,
                "rating": round(place.rating.mu, 1),
                "deviation": round(place.rating.phi, 1),
                "matches": place.matches,
                "faults": place.faults,
                "against": {
                    other.name: {"score": score, "matches": matches}
                    for other in standing.places
                    if (pair := standing.cross.get((place.name, other.name)))
                    for score, matches in [pair]
                },
            }
            for place in standing.places
        ],
    }
