"""Why a match has changed the ratings of its bots, from what it has recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose

from cw.hub.matches.views import MatchView, SeatView
from cw.league.statistics import glicko2
from cw.league.statistics.glicko2 import Rating


@dataclass(frozen=True, slots=True)
class RatingChange:
    """What a match has made of the rating of a bot, and of what."""

    name: str
    slot: int
    before: Rating
    after: Rating
    opponents: Sequence[str]
    """Their names."""
    strength: float
    """The mean mu of the opponents before the match."""
    score: float
    """Points: one for each opponent that it has beaten, half of one for each draw."""
    expected: float
    """The points that were expected by the ratings before the match."""
    level: Sequence[str] = ()
    """The names of those among many with whom it has the same score, and so half a point."""

    @property
    def gain(self) -> int:
        """By how much the shown rating rose, as lists show it."""
        return round(self.after.shown_rating) - round(self.before.shown_rating)

    @property
    def by_result(self) -> int:
        """The part of it by which the bot is now thought to be stronger."""
        return round(self.after.mu - self.before.mu)

    @property
    def by_sureness(self) -> int:
        """The part of it by which its rating is surer."""
        return self.gain - self.by_result

    @property
    def surprise(self) -> float:
        """Points above those that were expected."""
        return self.score - self.expected

    @property
    def sentence(self) -> str:
        """Why the rating changed, for people."""
        gain = f"gained {self.gain}" if self.gain > 0 else f"lost {-self.gain}"
        change = gain if self.gain else "kept its rating"
        cause = f"{self.cause} ({self.by_result:+d})"
        return f"{self.name} {change}: {cause}; its deviation {self.sureness}."

    @property
    def cause(self) -> str:
        """What it has done, and what was expected."""
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
        """How strong the opponents were thought to be, beside it."""
        ahead = round(self.strength - self.before.mu)
        if not ahead:
            return "estimated equally strong"
        return f"estimated {abs(ahead)} {'higher' if ahead > 0 else 'lower'}"

    @property
    def sureness(self) -> str:
        """How its deviation has changed."""
        before, after = round(self.before.phi), round(self.after.phi)
        part = f" ({self.by_sureness:+d})" if self.by_sureness else ""
        if before == after:
            return f"stayed {after}{part}"
        return f"{'fell' if after < before else 'rose'} from {before} to {after}{part}"


def changes_of(match: MatchView) -> list[RatingChange]:
    """Return what a rated match has changed, the best first; nothing for any other."""
    changes = [change_of(match, seat) for seat in match.by_place]
    return [change for change in changes if change is not None]


def change_of_bot(match: MatchView, bot: int) -> RatingChange | None:
    """Return what a rated match has made of the rating of one of its bots."""
    seat = next((seat for seat in match.seats if seat.bot == bot), None)
    return None if seat is None else change_of(match, seat)


def change_of(match: MatchView, seat: SeatView) -> RatingChange | None:
    """Return what a match has made of the rating of a seat.

    None where it was not rated, and where the ratings before it are not those by which it was: a
    match that had failed and was played after later ones of its bots.
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
        # A match that is drawn is so for all, whatever their scores.
        level if len(level) < len(others) else (),
    )


def enumerated(names: Sequence[str]) -> str:
    """Return names as a sentence has them: `A, B and C`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
