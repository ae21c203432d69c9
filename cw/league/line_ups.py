"""Free-for-all: who plays in which match of three or more players, and in which seat.

The line-ups of a round are drawn from the seed. Teams that have played less come first, so no team
is ever more than one match ahead; a match is filled with the teams that have met its players least
often. In every n matches of n players, a team has each seat once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, permutations
from random import Random
from typing import Final, TypeAlias

from cw.errors import UsageError
from cw.league.fixtures import Fixture, Round
from cw.league.schedule import check_teams

FREE_FOR_ALL: Final = "free-for-all"

USUAL_ROUNDS: Final = 10
"""The default number of rounds; fewer if a match has fewer players than this."""

MOST_ROUNDS: Final = 1000

TEAMS_DRAWN: Final = 200
"""How often a round is drawn, multiplied by the number of teams.

The draw with the fewest repeated meetings is used. With many teams, a single draw is enough: plenty
of them have not met.
"""

LineUp: TypeAlias = tuple[str, ...]
Node: TypeAlias = int | tuple[str, int]
"""A match, by its number, or a team's block of consecutive matches, one for each seat."""


def check_line_ups(teams: Sequence[str], players: int, rounds: int) -> None:
    """Raise UsageError unless these teams can play this many rounds of matches of this size."""
    check_teams(teams)
    if not 3 <= players <= len(teams):
        raise UsageError(
            f"{len(teams)} teams can play a free-for-all in matches of 3 to {len(teams)} players,"
            f" not of {players}; for matches of 2 choose another format"
        )
    if not 1 <= rounds <= MOST_ROUNDS:
        raise UsageError(f"a free-for-all has 1 to {MOST_ROUNDS} rounds, not {rounds}")


@lru_cache(maxsize=16)
def free_for_all(teams: tuple[str, ...], players: int, rounds: int, seed: int) -> tuple[Round, ...]:
    """Return all rounds; the order of the teams does not matter.

    Teams left over from the last full match rest in a round. Raises UsageError for invalid
    arguments.

    >>> (fixtures,) = free_for_all(("ann", "bob", "cy"), players=3, rounds=1, seed=1)
    >>> sorted(fixtures[0].players)
    ['ann', 'bob', 'cy']
    """
    check_line_ups(teams, players, rounds)
    drawn = drawn_line_ups(sorted(teams), players, rounds, Random(f"line-ups {seed}"))
    seats = iter(seated(list(chain.from_iterable(drawn)), players))
    return tuple(
        tuple(Fixture(FREE_FOR_ALL, None, number, next(seats)) for _ in line_ups)
        for number, line_ups in enumerate(drawn, 1)
    )


def drawn_line_ups(
    teams: Sequence[str], players: int, rounds: int, rng: Random
) -> list[list[LineUp]]:
    """Draw the line-ups of each round, without seats."""
    played: Counter[str] = Counter()
    met: Counter[tuple[str, ...]] = Counter()
    drawn = []
    for _ in range(rounds):
        times = max(1, TEAMS_DRAWN // len(teams))
        draws = [drawn_round(teams, players, rng, played, met) for _ in range(times)]
        line_ups = min(draws, key=lambda draw: sum(met[pair] ** 2 for pair in pairs_of(draw)))
        played.update(chain.from_iterable(line_ups))
        met.update(pairs_of(line_ups))
        drawn.append(line_ups)
    return drawn


def drawn_round(
    teams: Sequence[str],
    players: int,
    rng: Random,
    played: Counter[str],
    met: Counter[tuple[str, ...]],
) -> list[LineUp]:
    """Draw the line-ups of one round, given the matches played and meetings so far."""
    # Sorting is stable: teams with equally many matches keep their drawn order.
    order = sorted(rng.sample(teams, len(teams)), key=played.__getitem__)
    waiting = order[: len(teams) // players * players]
    return [next_line_up(waiting, players, met) for _ in range(len(teams) // players)]


def pairs_of(line_ups: Iterable[LineUp]) -> Iterator[tuple[str, ...]]:
    """Yield each pair of teams that meet, in both orders."""
    return chain.from_iterable(permutations(line_up, 2) for line_up in line_ups)


def next_line_up(waiting: list[str], players: int, met: Counter[tuple[str, ...]]) -> LineUp:
    """Take the first waiting team, then those that have met the chosen ones least often."""
    if len(waiting) == players:
        line_up, waiting[:] = tuple(waiting), []
        return line_up
    meetings = dict.fromkeys(waiting, 0)
    names: list[str] = []
    while len(names) < players:
        name = min(waiting, key=meetings.__getitem__)
        waiting.remove(name)
        names.append(name)
        for team in waiting:
            meetings[team] += met[team, name]
    return tuple(names)


def seated(line_ups: Sequence[LineUp], players: int) -> list[LineUp]:
    """Seat the players of each match; no team repeats a seat before having had all others."""
    plan = SeatPlan(players)
    begun: Counter[str] = Counter()
    for number, line_up in enumerate(line_ups):
        for team in line_up:
            plan.join(number, (team, begun[team] // players))
        begun.update(line_up)
    return [plan.line_up(number) for number in range(len(line_ups))]


class SeatPlan:
    """Assigns seats by colouring the edges between matches and teams; the colours are the seats.

    A bipartite graph needs no more colours than the maximum degree of a node (König's line
    colouring theorem), which here is the number of seats of a match.
    """

    def __init__(self, seats: int) -> None:
        """Create an empty plan."""
        self._seats = seats
        self._ends: dict[Node, dict[int, Node]] = defaultdict(dict)

    def join(self, match: int, block: tuple[str, int]) -> None:
        """Seat a team in a match; teams seated earlier may change seats."""
        seat, other = self._free(match), self._free(block)
        if seat != other:
            self._swap(block, seat, other)
        self._ends[match][seat] = block
        self._ends[block][seat] = match

    def line_up(self, match: int) -> LineUp:
        """Return the teams of a full match in seat order."""
        seats = self._ends[match]
        return tuple(name for name, _ in (seats[seat] for seat in range(self._seats)))  # type: ignore[misc]

    def _free(self, node: Node) -> int:
        return next(seat for seat in range(self._seats) if seat not in self._ends[node])

    def _swap(self, start: Node, seat: int, other: int) -> None:
        """Swap two seats along the alternating path that starts at a node with `seat`."""
        path, sought = [start], seat
        while (node := self._ends[path[-1]].get(sought)) is not None:
            path.append(node)
            sought = seat + other - sought
        for node in path:
            seats = self._ends[node]
            swapped = {seat: seats.pop(other, None), other: seats.pop(seat, None)}
            seats.update({s: end for s, end in swapped.items() if end is not None})
