"""Why a match changed its bots' ratings, derived from its record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose

from cw.league.statistics import glicko2
from cw.league.statistics.glicko2 import Rating
from cw_hub.matches.views import MatchView, SeatView


@dataclass(frozen=True, slots=True)
class RatingChange:
    """The change of a bot's rating by a match, and its causes."""

    name: str
    slot: int
    before: Rating
    after: Rating
    opponents: Sequence[str]
    """The names of the opponents."""
    strength: float
    """The mean mu of the opponents before the match."""
    score: float
    """Points: 1 for each opponent beaten, 0.5 for each draw."""
    expected: float
    """The points predicted by the ratings before the match."""
    level: Sequence[str] = ()
    """In a match of many, the names of opponents with equal score, each worth half a point."""

    @property
    def gain(self) -> int:
        """The increase of the shown rating, as lists round it."""
        return round(self.after.shown_rating) - round(self.before.shown_rating)

    @property
    def by_result(self) -> int:
        """The part of the gain due to a higher strength estimate."""
        return round(self.after.mu - self.before.mu)

    @property
    def by_sureness(self) -> int:
        """The part of the gain due to a smaller deviation."""
        return self.gain - self.by_result

    @property
    def surprise(self) -> float:
        """Points above the expected ones."""
        return self.score - self.expected

    @property
    def sentence(self) -> str:
        """The explanation of the change, for people."""
        gain = f"gained {self.gain}" if self.gain > 0 else f"lost {-self.gain}"
        change = gain if self.gain else "kept its rating"
        cause = f"{self.cause} ({self.by_result:+d})"
        return f"{self.name} {change}: {cause}; its deviation {self.sureness}."

    @property
    def cause(self) -> str:
        """The result, compared with the expected one."""
        if len(self.opponents) > 1:
            points = f"{self.score:g} of {len(self.opponents)} points"
            level = f" (level with {enumerated(self.level)} by score)" if self.level else ""
            return (
                f"it earned {points} against {enumerated(self.opponents)}{level},"
                f" {self.distance} on average, and {self.expected:.1f} were expected"
            )
        (name,) = self.opponents
        against = f"against {name}, {self.distance},"
        chance = round(100 * self.expected)
        if self.score == 0.5:
            return f"a draw {against} is 50 of 100 points, and {chance} were expected"
        result, likely = ("win", chance) if self.score else ("loss", 100 - chance)
        return f"a {result} {against} was expected in {likely} of 100"

    @property
    def distance(self) -> str:
        """The estimated strength of the opponents relative to the bot."""
        ahead = round(self.strength - self.before.mu)
        if not ahead:
            return "estimated equally strong"
        return f"estimated {abs(ahead)} {'higher' if ahead > 0 else 'lower'}"

    @property
    def sureness(self) -> str:
        """The change of its deviation."""
        before, after = round(self.before.phi), round(self.after.phi)
        part = f" ({self.by_sureness:+d})" if self.by_sureness else ""
        if before == after:
            return f"stayed {after}{part}"
        return f"{'fell' if after < before else 'rose'} from {before} to {after}{part}"


def changes_of(match: MatchView) -> list[RatingChange]:
    """Return the changes by a rated match, best place first; none for an unrated one."""
    changes = [change_of(match, seat) for seat in match.by_place]
    return [change for change in changes if change is not None]


def change_of_bot(match: MatchView, bot: int) -> RatingChange | None:
    """Return the rating change of one bot in a match, or None."""
    seat = next((seat for seat in match.seats if seat.bot == bot), None)
    return None if seat is None else change_of(match, seat)


def change_of(match: MatchView, seat: SeatView) -> RatingChange | None:
    """Return the rating change of a seat in a match.

    Returns None if the match was not rated, or if it was rated from other ratings than those
    before it: a failed match that was played again after later matches of its bots.
    """
    others = [other for other in match.seats if other.slot != seat.slot]
    met = [(other, other.before) for other in others if other.before is not None]
    if seat.before is None or seat.after is None or not met or len(met) < len(others):
        return None
    results = [
        (before, glicko2.result(seat.pair_rank or 0, other.pair_rank or 0)) for other, before in met
    ]
    if not isclose(glicko2.update(seat.before, results).mu, seat.after.mu, abs_tol=1e-6):
        return None
    ratings = [before for before, _ in results]
    level = [other.name for other in others if other.pair_rank == seat.pair_rank]
    return RatingChange(
        seat.name,
        seat.slot,
        seat.before,
        seat.after,
        [other.name for other in others],
        sum(rating.mu for rating in ratings) / len(ratings),
        sum(score for _, score in results),
        glicko2.expected_score(seat.before, ratings),
        # A drawn match is a draw for all, whatever the scores.
        level if len(level) < len(others) else (),
    )


def enumerated(names: Sequence[str]) -> str:
    """Join names for a sentence: `A, B and C`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
