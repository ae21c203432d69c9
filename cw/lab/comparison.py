"""A comparison of two bots: plays pairs until a sequential test tells which one is stronger.

Its state is a function of the finished matches, taken pair by pair in the order of their seeds. So
it depends neither on which of them end first, nor on how often it was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from math import ceil, inf
from typing import Final, TypeAlias

from cw.errors import UsageError
from cw.games.rules import Json
from cw.lab.journal import Journal, MatchLine
from cw.lab.line_up import LineUp
from cw.lab.playing import Players
from cw.league.statistics.sprt import Decision, Hypotheses, PairScores, decision, pairs_left
from cw.matches.spec import MatchSpec

REPEATS_SEEN: Final = 5
"""Pairs needed to detect repetition: matches of a tiny game may be equal by chance."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The state of a comparison."""

    line_up: LineUp
    hypotheses: Hypotheses
    most: int
    """Pairs after which it ends undecided."""
    scores: PairScores = field(default_factory=PairScores)
    decision: Decision | None = None
    matches: tuple[MatchLine, ...] = ()
    """The matches of the pairs that count."""
    wins: int = 0
    """Matches in which the new bot was ahead of the old one."""
    losses: int = 0
    repeated: int = 0
    """Pairs that repeat the matches of an earlier pair."""

    @property
    def repeats(self) -> bool:
        """Whether most pairs are identical: more of them would decide the test without evidence."""
        is_seen = self.scores.pairs >= min(REPEATS_SEEN, self.most)
        return is_seen and 2 * self.repeated > self.scores.pairs

    @property
    def draws(self) -> int:
        """Matches in which both bots did equally well."""
        return len(self.matches) - self.wins - self.losses

    @property
    def is_over(self) -> bool:
        """Whether no more pairs are needed."""
        return self.decision is not None or self.repeats or self.scores.pairs >= self.most

    @property
    def matches_left(self) -> int:
        """The expected number of matches still to play."""
        if self.is_over:
            return 0
        rest = self.most - self.scores.pairs
        expected = pairs_left(self.scores, self.hypotheses)
        pairs = rest if expected == inf else min(rest, max(1, ceil(expected)))
        return pairs * len(self.line_up.seatings)

    def with_pair(self, pair: list[MatchSpec], lines: tuple[MatchLine, ...]) -> Comparison:
        """Return the comparison with one more pair."""
        each = [
            self.line_up.score(spec, line.ranks) for spec, line in zip(pair, lines, strict=True)
        ]
        scores = self.scores.add(sum(each) / len(each))
        after = replace(
            self,
            scores=scores,
            repeated=self.repeated + self._is_known(lines),
            matches=(*self.matches, *lines),
            wins=self.wins + sum(score > 0.5 for score in each),
            losses=self.losses + sum(score < 0.5 for score in each),
        )
        return replace(after, decision=None if after.repeats else decision(scores, self.hypotheses))

    def _is_known(self, lines: Sequence[MatchLine]) -> bool:
        """Return whether an earlier pair had the same actions in all its matches."""
        digests = [line.played for line in lines]
        earlier = [line.played for line in self.matches]
        size = len(digests)
        return all(digests) and any(
            earlier[at : at + size] == digests for at in range(0, len(earlier), size)
        )


def check_games(line_up: LineUp, games: int) -> None:
    """Raise UsageError if this many matches make less than a pair."""
    in_pair = len(line_up.seatings)
    if games < in_pair:
        raise UsageError(f"--games must be at least {in_pair}, one pair of matches")


Watch: TypeAlias = Callable[[Comparison], None]
"""Called with the comparison after each pair."""


@dataclass(frozen=True, slots=True)
class Contest:
    """The settings of a comparison; the same settings give the same result."""

    line_up: LineUp
    hypotheses: Hypotheses
    games: int
    """Maximum number of matches; the last pair is always completed."""
    seed: int

    def __post_init__(self) -> None:
        """Raise UsageError if there are too few matches for a pair."""
        check_games(self.line_up, self.games)

    @property
    def begin(self) -> Comparison:
        """The comparison before its first pair."""
        pairs = self.games // len(self.line_up.seatings)
        return Comparison(self.line_up, self.hypotheses, pairs)

    @property
    def head(self) -> dict[str, Json]:
        """The header of its journal: everything that the matches depend on."""
        return {
            "kind": "comparison",
            "game": self.line_up.game,
            "bots": [f"{bot.name}={bot.spec}" for bot in self.line_up.bots],
            "settings": {bot.name: {**bot.own_settings} for bot in self.line_up.bots},
            "options": self.line_up.options,
            "seed": self.seed,
        }

    def pair(self, number: int) -> list[MatchSpec]:
        """Return the matches of a pair, counted from 0."""
        return self.line_up.pair(f"pair-{number}", self.seed + number)

    def specs(self) -> Iterator[MatchSpec]:
        """Yield all matches that it may need."""
        for number in range(self.begin.most):
            yield from self.pair(number)

    def standing(self, journal: Journal, now: Comparison) -> Iterator[Comparison]:
        """Yield the comparison after each further finished pair, in order, until it ends."""
        while not now.is_over:
            pair = self.pair(now.scores.pairs)
            lines = tuple(journal.lines[spec.id] for spec in pair if spec.id in journal.lines)
            if len(lines) < len(pair):
                return
            now = now.with_pair(pair, lines)
            yield now

    def now(self, journal: Journal) -> Comparison:
        """Return the comparison with all pairs in a journal."""
        return advanced(self, journal, self.begin, lambda _: None)


async def compare(contest: Contest, journal: Journal, playing: Players, watch: Watch) -> Comparison:
    """Play pairs until they decide or the maximum is reached; return the final comparison.

    Matches that a journal holds are not played again.
    """
    now = advanced(contest, journal, contest.begin, watch)
    if now.is_over:
        return now
    secrets = contest.line_up.secrets
    async with aclosing(playing.play(contest.specs(), secrets, journal)) as finished:
        async for _ in finished:
            now = advanced(contest, journal, now, watch)
            if now.is_over:
                break
    return now


def advanced(contest: Contest, journal: Journal, now: Comparison, watch: Watch) -> Comparison:
    """Return a comparison with all finished pairs."""
    for after in contest.standing(journal, now):
        watch(after)
        now = after
    return now
