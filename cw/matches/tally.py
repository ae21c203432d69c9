"""Several matches between the same bots, summarised by bot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal, TypeAlias

from cw.games.rules import Json
from cw.league.statistics.intervals import Interval, wilson
from cw.matches.spec import MatchResult, MatchSpec

Came: TypeAlias = Literal["won", "drawn", "lost"]
POINTS: Final = {"won": 1.0, "drawn": 0.5, "lost": 0.0}


@dataclass(frozen=True, slots=True)
class Part:
    """A bot's result in one match."""

    seat: int
    """From 1."""
    came: Came
    score: float | None
    faults: int


@dataclass(frozen=True, slots=True)
class Tally:
    """A bot's results in several matches, at least one."""

    name: str
    parts: tuple[Part, ...]

    def count(self, came: Came) -> int:
        """Return how many matches were won, drawn or lost."""
        return sum(part.came == came for part in self.parts)

    @property
    def points(self) -> float:
        """Matches won; a draw counts half."""
        return sum(POINTS[part.came] for part in self.parts)

    @property
    def win_rate(self) -> float:
        """The share of its matches that it won, from 0 to 1; a draw counts half."""
        return self.points / len(self.parts)

    @property
    def interval(self) -> Interval:
        """The Wilson interval of the win rate, for 95 %."""
        return wilson(self.points, len(self.parts))

    @property
    def average_score(self) -> float | None:
        """The mean of its scores, or None."""
        scores = [part.score for part in self.parts if part.score is not None]
        return fmean(scores) if scores else None

    @property
    def faults(self) -> int:
        """Its faults in all matches."""
        return sum(part.faults for part in self.parts)

    @property
    def seats(self) -> dict[int, Tally]:
        """Its results in each of its seats, in order of the seats."""
        numbers = sorted({part.seat for part in self.parts})
        return {
            seat: Tally(self.name, tuple(part for part in self.parts if part.seat == seat))
            for seat in numbers
        }

    def to_json(self) -> dict[str, Json]:
        """Return the figures as JSON."""
        return {
            "name": self.name,
            "wins": self.count("won"),
            "draws": self.count("drawn"),
            "losses": self.count("lost"),
            "win_rate": self.win_rate,
            "interval": list(self.interval),
            "average_score": self.average_score,
            "faults": self.faults,
            "seats": {
                str(seat): {"matches": len(there.parts), "wins": there.count("won")}
                for seat, there in self.seats.items()
            },
        }


def tallies(names: Sequence[str], matches: Iterable[tuple[MatchSpec, MatchResult]]) -> list[Tally]:
    """Return the tally of each named bot over the matches that it played.

    >>> from cw.arena.bots import read_bots
    >>> from cw.matches.simulate import simulate
    >>> bots = tuple(read_bots(["builtin:greedy", "builtin:random"]).bots)
    >>> specs = [MatchSpec(f"m{seed}", "hexagon", bots, seed) for seed in range(4)]
    >>> matches = [(spec, simulate(spec)) for spec in specs]
    >>> [tally.name for tally in tallies(["greedy", "random"], matches)]
    ['greedy', 'random']
    """
    parts: dict[str, list[Part]] = {name: [] for name in names}
    for spec, result in matches:
        for number, bot in enumerate(spec.bots):
            parts[bot.name].append(part_of(result, number))
    return [Tally(name, tuple(bot_parts)) for name, bot_parts in parts.items()]


def part_of(result: MatchResult, number: int) -> Part:
    """Return the result of the bot with this number."""
    score, faults = result.scores[number], len(result.faults_of(number))
    return Part(number + 1, came(result, number), score, faults)


def came(result: MatchResult, number: int) -> Came:
    """Return how a match ended for a bot; without a winner, the first-ranked and unranked drew."""
    if result.winner is None and result.ranks[number] in (1, None):
        return "drawn"
    return "won" if result.winner == number else "lost"
