"""The knockout: two-legged ties, byes to the best, and who meets whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from cw.league.fixtures import Fixture, Result, Results, Round
from cw.league.standings import Order, head_to_head, tally
from cw.league.ties import TieBreaker

Reason: TypeAlias = Literal[
    "", "bye", "wins", "score ratio", "head-to-head", "further games", "lot"
]
"""What decided a tie; "" while it is open."""

STAGES: Final[Mapping[int, str]] = MappingProxyType(
    {2: "final", 4: "semi-final", 8: "quarter-final"}
)
"""The names of the last stages by the number of teams."""


@dataclass(frozen=True, slots=True)
class Tie:
    """Two teams of which one goes on, or one that has a bye."""

    stage: str
    teams: tuple[str | None, str | None]
    """None where it is not known yet who comes, and beside a team that has a bye."""
    games: tuple[Fixture, ...] = ()
    """Both legs, then all further games that are known to be needed."""
    winner: str | None = None
    reason: Reason = ""

    @property
    def loser(self) -> str | None:
        """Name the team that is out, None while the tie is open and for a bye."""
        return next((team for team in self.teams if self.winner and team != self.winner), None)


Bracket: TypeAlias = tuple[tuple[Tie, ...], ...]
"""The ties of each stage, the final last; the winners of two neighbours meet next."""


def seeded(entrants: Sequence[str]) -> tuple[str | None, ...]:
    """Place entrants, the best first, so that the best meet late; None stands beside a bye.

    The first and the second can meet in the final only, the best four in the semi-finals, ...
    """
    return tuple(
        entrants[number - 1] if number <= len(entrants) else None
        for number in seed_numbers(len(entrants))
    )


def seed_numbers(entrants: int) -> list[int]:
    """Return the numbers of the seeds, from 1, in the order of the bracket: 1 4 2 3 for four."""
    numbers = [1]
    while len(numbers) < entrants:
        last = 2 * len(numbers) + 1
        numbers = [number for seed in numbers for number in (seed, last - seed)]
    return numbers


def crossed(groups: Sequence[tuple[str, str]]) -> list[str]:
    """Put winners and runners-up of groups, the strongest group first, in order for `seeded`.

    Winners come first. Each runner-up goes to the other half than the winner of its group, so two
    teams of a group can meet in the final only.
    """
    entrants = 2 * len(groups)
    numbers = seed_numbers(entrants)
    upper = set(numbers[: len(numbers) // 2])
    order = [winner for winner, _ in groups]
    waiting = [(runner_up, number in upper) for number, (_, runner_up) in enumerate(groups, 1)]
    for number in range(len(groups) + 1, entrants + 1):
        # Every two neighbouring seeds lie in different halves, so there is one to the last.
        place = next(i for i, (_, above) in enumerate(waiting) if above != (number in upper))
        order.append(waiting.pop(place)[0])
    return order


History: TypeAlias = defaultdict[str, list[Result]]
"""The games of each team in all stages before, without further games."""


def bracket(
    slots: Sequence[str | None], results: Results, seed: int, before: Iterable[Result] = ()
) -> Bracket:
    """Return all ties of a knockout, as far as the results settle them.

    `slots` are a power of two; `before` are the games of the group stage, which count in overall
    score ratio and head-to-head.
    """
    history: History = defaultdict(list)
    remember(history, before)
    stages: list[tuple[Tie, ...]] = []
    while len(slots) > 1:
        paired = [Tie(stage_name(len(slots)), pair) for pair in neighbours(slots)]
        ties = [tie if stages else with_bye(tie) for tie in paired]
        stages.append(tuple(with_games(tie, results, seed, history) for tie in ties))
        legs = (game for tie in stages[-1] for game in tie.games if not game.extra)
        remember(history, (results[game] for game in legs if game in results))
        slots = [tie.winner for tie in stages[-1]]
    return tuple(stages)


def neighbours(slots: Sequence[str | None]) -> Iterator[tuple[str | None, str | None]]:
    """Return the pairs of a stage."""
    return zip(slots[::2], slots[1::2], strict=True)


def stage_name(teams: int) -> str:
    """Name the stage in which so many teams are left."""
    return STAGES.get(teams, f"round of {teams}")


def remember(history: History, results: Iterable[Result]) -> None:
    """Add games to the history of both their teams."""
    for result in results:
        history[result.first].append(result)
        history[result.second].append(result)


def with_bye(tie: Tie) -> Tie:
    """Let the one team of a tie pass, if there is only one."""
    present = [team for team in tie.teams if team is not None]
    return replace(tie, winner=present[0], reason="bye") if len(present) == 1 else tie


def with_games(tie: Tie, results: Results, seed: int, history: History) -> Tie:
    """Return a tie both legs, and decide it once they are played."""
    first, second = tie.teams
    if first is None or second is None:
        return tie
    legs = (Fixture(tie.stage, None, 1, first, second), Fixture(tie.stage, None, 2, second, first))
    tie = replace(tie, games=legs)
    if any(leg not in results for leg in legs):
        return tie
    played = [results[leg] for leg in legs]
    return decided(tie, (first, second), played, history) or further(
        tie, (first, second), TieBreaker(tie.stage, None, results, seed)
    )


def decided(
    tie: Tie, teams: tuple[str, str], legs: Sequence[Result], history: History
) -> Tie | None:
    """Decide a tie by its legs, then by what the teams have played so far; None if that is equal.

    The overall score ratio and the head-to-head are of all games of the championship up to here.
    """
    own = {team: [*history[team], *legs] for team in teams}
    ratios = {team: tally(own[team])[team].ratio for team in teams}
    best = max(teams, key=ratios.__getitem__)
    order = head_to_head(teams, own[best])
    if legs[0].winner == legs[1].winner:
        return replace(tie, winner=legs[0].winner, reason="wins")
    if ratios[teams[0]] != ratios[teams[1]]:
        return replace(tie, winner=best, reason="score ratio")
    if len(order) == 2:
        return replace(tie, winner=order[0][0], reason="head-to-head")
    return None


def further(tie: Tie, teams: tuple[str, str], judge: TieBreaker) -> Tie:
    """Decide a tie by further games or a lot, or say which games are still to be played."""
    settled = judge.settle(teams, places=1)
    games = tie.games + tuple(game for games in settled.rounds for game in games)
    if len(settled.order) == 1:
        return replace(tie, games=games)
    reason: Reason = "lot" if settled.by_lot else "further games"
    return replace(tie, games=games, winner=settled.order[0][0], reason=reason)


def bracket_rounds(ties: Bracket) -> Iterator[Round]:
    """Return the games of all ties, stage by stage."""
    for stage in ties:
        for games in zip_longest(*(tie.games for tie in stage)):
            yield tuple(game for game in games if game is not None)


def places(ties: Bracket) -> Order:
    """Order the teams by how far they came; those that are still in stand first."""
    out = [tuple(sorted(filter(None, (tie.loser for tie in stage)))) for stage in reversed(ties)]
    entrants = {team for tie in ties[0] for team in tie.teams if team is not None}
    still_in = tuple(sorted(entrants.difference(*out)))
    return tuple(equal for equal in (still_in, *out) if equal)
