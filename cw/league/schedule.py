"""Pairings for round-robin, Swiss and gauntlet contests of two or more teams.

Each function yields rounds in order, as described in `cw.league.fixtures`. All but the single
round-robin make every pair that meets play in both seats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction
from itertools import chain
from math import ceil, log2
from typing import Final

from cw.errors import UsageError
from cw.league.fixtures import Fixture, Results, Round, both_seats
from cw.league.standings import POINTS_OF_A_REST, tally

MOST_TEAMS: Final = 500

REST: Final = ""
"""The opponent of a team that rests."""


def check_teams(teams: Sequence[str]) -> None:
    """Raise UsageError unless these are 2 to 500 teams with distinct names."""
    if not 2 <= len(teams) <= MOST_TEAMS:
        raise UsageError(f"a contest takes 2 to {MOST_TEAMS} teams, not {len(teams)}")
    if REST in teams:
        raise UsageError("a team has no name")
    if len(set(teams)) < len(teams):
        twice = next(team for team in teams if teams.count(team) > 1)
        raise UsageError(f"the team {twice!r} is named twice")


def round_robin(
    teams: Sequence[str], *, double: bool, stage: str, group: str | None = None, tie_break: int = 0
) -> Iterator[Round]:
    """Pair all teams once, or twice with the seats swapped.

    A team sits first as often as second; with an odd number of matches, the counts differ by one.

    >>> for fixtures in round_robin(["ann", "bob", "cy", "dan"], double=False, stage="league"):
    ...     print([" - ".join(fixture.players) for fixture in fixtures])
    ['ann - dan', 'bob - cy']
    ['dan - cy', 'ann - bob']
    ['bob - dan', 'cy - ann']
    """
    check_teams(teams)
    rounds = [
        [(teams[a], teams[b]) for a, b in circle_round(len(teams), number)]
        for number in range(circle_rounds(len(teams)))
    ]
    swapped = [[(b, a) for a, b in pairs] for pairs in rounds] if double else []
    for number, pairs in enumerate(rounds + swapped, 1):
        yield tuple(Fixture(stage, group, number, pair, tie_break) for pair in pairs)


def circle_rounds(teams: int) -> int:
    """Return the number of rounds in which each pair of teams can meet once."""
    return teams - 1 + teams % 2


def circle_round(teams: int, number: int) -> Iterator[tuple[int, int]]:
    """Pair teams by the circle method, with rounds counted from 0; the first seat is listed first.

    An odd number of teams is placed on a circle and folded about one of them, which rests. With an
    even number the last team is outside the circle and meets the one that would rest.
    """
    places = circle_rounds(teams)
    # Steps of half the circle, as in Berger's tables, make a team change seats in every round.
    middle = number * (places // 2 + 1) % places
    if teams % 2 == 0:
        yield (teams - 1, middle) if number % 2 else (middle, teams - 1)
    for k in range(1, places // 2 + 1):
        yield (middle + k) % places, (middle - k) % places


def gauntlet(teams: Sequence[str], stage: str = "gauntlet") -> Iterator[Round]:
    """Pair the first team with each of the others, in both seats.

    >>> [fixture.players for round in gauntlet(["ann", "bob", "cy"]) for fixture in round]
    [('ann', 'bob'), ('bob', 'ann'), ('ann', 'cy'), ('cy', 'ann')]
    """
    check_teams(teams)
    challenger, *others = teams
    for number, other in enumerate(others):
        yield from both_seats(stage, None, 2 * number + 1, [(challenger, other)])


def default_swiss_rounds(teams: int) -> int:
    """Return the number of rounds after which at most one team can have won them all."""
    return ceil(log2(teams))


def swiss(
    teams: Sequence[str], results: Results, meetings: int | None = None, stage: str = "swiss"
) -> Iterator[Round]:
    """Pair teams of similar success, in both seats; no two teams meet twice.

    `teams` is in order of strength, or drawn. Each meeting takes two rounds, one for each seat.
    With an odd number of teams one rests, each at most once; a rest counts as two wins. Raises
    UsageError for more meetings than half the teams: up to there a pairing without repetition
    always exists.

    >>> first, second = swiss(["ann", "bob", "cy", "dan"], results={})
    >>> [fixture.players for fixture in first]
    [('ann', 'cy'), ('bob', 'dan')]
    """
    check_teams(teams)
    meetings = default_swiss_rounds(len(teams)) if meetings is None else meetings
    if not 1 <= meetings <= (len(teams) + 1) // 2:
        raise UsageError(
            f"{len(teams)} teams can meet in 1 to {(len(teams) + 1) // 2} Swiss meetings,"
            f" not {meetings}; play a round-robin instead"
        )
    met: set[frozenset[str]] = set()
    points = dict.fromkeys(teams, Fraction(0))
    for meeting in range(meetings):
        pairs = swiss_pairs(teams, points, met)
        met.update(map(frozenset, pairs))
        playing = [pair for pair in pairs if REST not in pair]
        rounds = list(both_seats(stage, None, 2 * meeting + 1, playing))
        yield from rounds
        legs = list(chain.from_iterable(rounds))
        # Later pairings depend on this round's results, so stop until it has been played.
        if any(leg not in results for leg in legs):
            return
        for team, record in tally(results[leg] for leg in legs).items():
            points[team] += record.points
        for team in resting(teams, rounds[0]):
            points[team] += POINTS_OF_A_REST


def resting(teams: Sequence[str], fixtures: Round) -> list[str]:
    """Return the teams that have no match in a round."""
    playing = {team for fixture in fixtures for team in fixture.players}
    return [team for team in teams if team not in playing]


def swiss_pairs(
    teams: Sequence[str], points: Mapping[str, Fraction | int], met: Set[frozenset[str]]
) -> list[tuple[str, str]]:
    """Pair teams that have not met, in score groups, each top half against its bottom half.

    A team without an opponent in its group meets the best team of the next group; REST goes to the
    last team that has not had it yet.
    """
    # Sorting is stable: the given order is kept within a score group.
    unpaired = sorted(teams, key=lambda team: -points[team]) + [REST] * (len(teams) % 2)
    scores = {**points, REST: -1}
    pairs: list[tuple[str, str]] = []
    left: list[str] = []
    while unpaired:
        team = unpaired.pop(0)
        # As in the Dutch system of FIDE, without colours: top half against bottom half.
        preference = by_preference(scores[team], [scores[other] for other in unpaired])
        free = (place for place in preference if frozenset((team, unpaired[place])) not in met)
        if (place := next(free, None)) is None:
            left.append(team)
        else:
            pairs.append((team, unpaired.pop(place)))
    return repaired(pairs, left, met)


def by_preference(score: Fraction | int, below: Sequence[Fraction | int]) -> Iterator[int]:
    """Yield the indexes of possible opponents below a team, the preferred ones first.

    The order is: its counterpart in the bottom half of the score group and those after it, then
    those before it, then the lower groups from the top. All teams' scores are given.
    """
    group = below.count(score)
    counterpart = max(0, (group + 1) // 2 - 1)
    yield from range(counterpart, group)
    yield from reversed(range(counterpart))
    yield from range(group, len(below))


def repaired(
    pairs: list[tuple[str, str]], left: Sequence[str], met: Set[frozenset[str]]
) -> list[tuple[str, str]]:
    """Pair the teams left over: each two of them split up the last possible pair.

    One exists as long as no team has met half the others (the argument of Dirac's theorem): the
    teams left over have all met each other, so two of them can together meet more teams than are in
    pairs, and there is a pair whose two teams they can both meet.
    """
    for a, b in zip(left[::2], left[1::2], strict=True):
        exchanges = (
            (place, ((a, x), (b, y)))
            for place in reversed(range(len(pairs)))
            for x, y in (pairs[place], pairs[place][::-1])
        )
        # This cannot fail, as `swiss` refuses more meetings than half the teams.
        place, new = next(e for e in exchanges if met.isdisjoint(map(frozenset, e[1])))
        pairs[place : place + 1] = new
    return pairs
