"""The knockout bracket: two-legged ties, byes for the top seeds, and the pairings of each stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, zip_longest
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from cw.league.fixtures import Fixture, Result, Results, Round, both_seats
from cw.league.standings import Order, head_to_head, tally
from cw.league.tie_break_matches import TieBreaker

Reason: TypeAlias = Literal[
    "", "bye", "wins", "score ratio", "head-to-head", "tie-break matches", "lot"
]
"""What decided a tie; "" while it is undecided."""

LEGS: Final = 2
"""Number of matches in a tie, not counting tie-break matches."""

STAGES: Final[Mapping[int, str]] = MappingProxyType(
    {2: "final", 4: "semi-final", 8: "quarter-final"}
)
"""Names of the last stages by number of teams."""


@dataclass(frozen=True, slots=True)
class Tie:
    """Two teams of which one advances, or one that has a bye."""

    stage: str
    teams: tuple[str | None, str | None]
    """None for a team that is not known yet, and for the missing opponent of a team with a bye."""
    fixtures: tuple[Fixture, ...] = ()
    """Both legs, followed by all tie-break matches known to be needed."""
    winner: str | None = None
    reason: Reason = ""

    @property
    def loser(self) -> str | None:
        """Return the eliminated team; None for a bye, and while the tie is undecided."""
        return next((team for team in self.teams if self.winner and team != self.winner), None)


Bracket: TypeAlias = tuple[tuple[Tie, ...], ...]
"""The ties of each stage, the final last; the winners of two neighbouring ties meet next."""


def seeded(entrants: Sequence[str]) -> tuple[str | None, ...]:
    """Return entrants, given best first, in bracket order: the best meet late, and None is a bye.

    The first and the second can meet only in the final, the best four only in the semi-finals, ...

    >>> seeded(["ann", "bob", "cy"])
    ('ann', None, 'bob', 'cy')
    """
    return tuple(
        entrants[number - 1] if number <= len(entrants) else None
        for number in seed_numbers(len(entrants))
    )


def seed_numbers(entrants: int) -> list[int]:
    """Return the seed numbers, from 1, in bracket order: 1 4 2 3 for four."""
    numbers = [1]
    while len(numbers) < entrants:
        # Standard seeding: in each stage the seeds of a tie add up to the number of teams plus one.
        last = 2 * len(numbers) + 1
        numbers = [number for seed in numbers for number in (seed, last - seed)]
    return numbers


def crossed(groups: Sequence[tuple[str, str]]) -> list[str]:
    """Order winners and runners-up of groups, the strongest group first, for `seeded`.

    Winners come first. Each runner-up goes to the half without the winner of its group, so two
    teams of a group can meet only in the final.

    >>> crossed([("a1", "a2"), ("b1", "b2")])
    ['a1', 'b1', 'a2', 'b2']
    """
    entrants = 2 * len(groups)
    numbers = seed_numbers(entrants)
    upper = set(numbers[: len(numbers) // 2])
    order = [winner for winner, _ in groups]
    waiting = [(runner_up, number in upper) for number, (_, runner_up) in enumerate(groups, 1)]
    for number in range(len(groups) + 1, entrants + 1):
        # Any two neighbouring seeds are in different halves, so a suitable one is always there.
        place = next(i for i, (_, above) in enumerate(waiting) if above != (number in upper))
        order.append(waiting.pop(place)[0])
    return order


History: TypeAlias = defaultdict[str, list[Result]]
"""The results of each team in all previous stages, without tie-break matches."""


def bracket(
    places: Sequence[str | None], results: Results, seed: int, before: Iterable[Result] = ()
) -> Bracket:
    """Return all ties of a knockout, as far as the results determine them.

    The number of `places` is a power of two; `before` contains the results of the group stage,
    which count for overall score ratio and head-to-head.
    """
    history: History = defaultdict(list)
    remember(history, before)
    stages: list[tuple[Tie, ...]] = []
    while len(places) > 1:
        paired = [Tie(stage_name(len(places)), pair) for pair in neighbours(places)]
        ties = [tie if stages else with_bye(tie) for tie in paired]
        stages.append(tuple(with_matches(tie, results, seed, history) for tie in ties))
        legs = (leg for tie in stages[-1] for leg in tie.fixtures if not leg.tie_break)
        remember(history, (results[leg] for leg in legs if leg in results))
        # The winner of an undecided tie is None: later stages are shown, but have no fixtures yet.
        places = [tie.winner for tie in stages[-1]]
    return tuple(stages)


def neighbours(places: Sequence[str | None]) -> Iterator[tuple[str | None, str | None]]:
    """Yield the pairs of neighbouring teams, which meet in this stage."""
    return zip(places[::2], places[1::2], strict=True)


def stage_name(teams: int) -> str:
    """Return the name of the stage with this many teams left."""
    return STAGES.get(teams, f"round of {teams}")


def remember(history: History, results: Iterable[Result]) -> None:
    """Add each result to the history of both teams."""
    for result in results:
        for team in result.players:
            history[team].append(result)


def with_bye(tie: Tie) -> Tie:
    """Return a tie with its only team as winner if it is a bye, or unchanged otherwise."""
    present = [team for team in tie.teams if team is not None]
    return replace(tie, winner=present[0], reason="bye") if len(present) == 1 else tie


def with_matches(tie: Tie, results: Results, seed: int, history: History) -> Tie:
    """Return a tie with both legs, decided once they are played."""
    first, second = tie.teams
    if first is None or second is None:
        return tie
    legs = tuple(chain.from_iterable(both_seats(tie.stage, None, 1, [(first, second)])))
    tie = replace(tie, fixtures=legs)
    if any(leg not in results for leg in legs):
        return tie
    played = [results[leg] for leg in legs]
    return decided(tie, (first, second), played, history) or tie_broken(
        tie, (first, second), TieBreaker(tie.stage, None, results, seed)
    )


def decided(
    tie: Tie, teams: tuple[str, str], legs: Sequence[Result], history: History
) -> Tie | None:
    """Decide a tie by its legs, then by all matches of the teams so far; None if still equal.

    Overall score ratio and head-to-head count all matches of the championship so far.
    """
    won = ordered(teams, {team: record.points for team, record in tally(legs).items()})
    if won is not None:
        return replace(tie, winner=won, reason="wins")
    results = {team: [*history[team], *legs] for team in teams}
    ahead = ordered(teams, {team: tally(results[team])[team].ratio for team in teams})
    if ahead is not None:
        return replace(tie, winner=ahead, reason="score ratio")
    # Any meeting of the two is in both histories, so one of them is enough.
    order = head_to_head(teams, results[teams[0]])
    if len(order) == 2:
        return replace(tie, winner=order[0][0], reason="head-to-head")
    return None


def ordered(teams: tuple[str, str], figures: Mapping[str, Fraction]) -> str | None:
    """Return the team with the higher value, or None if they are equal."""
    first, second = teams
    if figures[first] == figures[second]:
        return None
    return max(teams, key=figures.__getitem__)


def tie_broken(tie: Tie, teams: tuple[str, str], breaker: TieBreaker) -> Tie:
    """Decide a tie by tie-break matches or a lot, or add the matches still to be played."""
    settled = breaker.settle(teams, places=1)
    fixtures = tie.fixtures + tuple(chain.from_iterable(settled.rounds))
    if len(settled.order) == 1:
        return replace(tie, fixtures=fixtures)
    reason: Reason = "lot" if settled.by_lot else "tie-break matches"
    return replace(tie, fixtures=fixtures, winner=settled.order[0][0], reason=reason)


def bracket_rounds(ties: Bracket) -> Iterator[Round]:
    """Yield the fixtures of all ties, stage by stage."""
    for stage in ties:
        for fixtures in zip_longest(*(tie.fixtures for tie in stage)):
            yield tuple(fixture for fixture in fixtures if fixture is not None)


def unknown_legs(ties: Bracket) -> int:
    """Return the number of legs whose teams are not known yet."""
    return sum(LEGS for tie in chain.from_iterable(ties) if None in tie.teams and not tie.winner)


def places(ties: Bracket) -> Order:
    """Rank the teams by how far they advanced; those still in the contest come first."""
    out = [tuple(sorted(filter(None, (tie.loser for tie in stage)))) for stage in reversed(ties)]
    entrants = {team for tie in ties[0] for team in tie.teams if team is not None}
    still_in = tuple(sorted(entrants.difference(*out)))
    return tuple(equal for equal in (still_in, *out) if equal)
