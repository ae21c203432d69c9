"""Compares two bots: plays pairs of matches until a sequential test decides, or up to a limit.

Its state is a function of the finished matches, taken pair by pair in the order of their seeds, so
neither the order in which matches finish nor interruptions affect it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import chain, cycle, islice
from math import ceil, inf, isinf
from typing import Final, TypeAlias

from cw.arena.bots import BotSpec, read_bots
from cw.errors import UsageError
from cw.games.codec import Game
from cw.games.registry import (
    load_endings,
    load_game,
    load_play_options,
    load_protocol,
    load_strategies,
)
from cw.games.rules import Json
from cw.lab.journal import BotFaults, Journal, MatchLine, Players, places
from cw.league.glicko2 import result
from cw.league.strength_tests import (
    Decision,
    Estimate,
    Hypotheses,
    PairScores,
    decision,
    pairs_left,
    ratio_of,
)
from cw.matches.run import check_number, parted
from cw.matches.spec import Isolation, MatchSpec, Secrets


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence from pairs of matches between two bots."""

    new: str
    """The name of the bot that may be stronger."""
    old: str
    hypotheses: Hypotheses
    scores: PairScores
    decision: Decision | None
    """The decision; None while undecided, or if it ended undecided."""
    matches: int


def verdict(evidence: Evidence) -> str:
    """Return a sentence with the decision, or one that says that there is none."""
    lead = elo_in_words(evidence.scores.estimate)
    count = counted(evidence.matches, "match")
    if evidence.decision is None:
        at = "" if lead.startswith("at ") else "at "
        return (
            f"undecided after {count}: {evidence.new} is {at}{lead} against {evidence.old}"
            f" ({ratio_in_words(evidence)})"
        )
    hypotheses = evidence.hypotheses
    is_stronger = evidence.decision == "stronger"
    error = hypotheses.alpha if is_stronger else hypotheses.beta
    passed = "passed" if is_stronger else "failed"
    return (
        f"{evidence.new} is {claim(evidence)} {evidence.old}: {lead} after {count}"
        f" (SPRT {passed}, {100 * error:g} % error)"
    )


def claim(evidence: Evidence) -> str:
    """Return the decision as text, with any Elo threshold other than 0.

    At 5 % error, `not stronger` means that the lead is less than `elo1`.
    """
    hypotheses = evidence.hypotheses
    if evidence.decision != "stronger":
        return f"not {hypotheses.elo1:g} Elo stronger than"
    if hypotheses.elo0:
        return f"stronger by more than {hypotheses.elo0:g} Elo than"
    return "stronger than"


def standing(evidence: Evidence) -> str:
    """Return the evidence about two bots as one line."""
    return (
        f"{counted(evidence.matches, 'match')}, score {evidence.scores.mean:.1%},"
        f" {elo_in_words(evidence.scores.estimate)}, {ratio_in_words(evidence)}"
    )


def ratio_in_words(evidence: Evidence) -> str:
    """Return the log-likelihood ratio and its bounds as text."""
    low, high = evidence.hypotheses.bounds
    ratio = ratio_of(evidence.scores, evidence.hypotheses)
    return f"LLR {ratio:z.2f} between {low:.2f} and {high:.2f}"


def elo_in_words(estimate: Estimate) -> str:
    """Return a lead with its 95 % interval as text, as far as it is bounded.

    >>> elo_in_words(Estimate(43.2, 26.0, 60.4)), elo_in_words(Estimate(float("inf"), 338, 900))
    ('+43 ± 17 Elo', 'at least +338 Elo')
    """
    elo, low, high = estimate
    if isinf(low) and isinf(high):
        return "unknown Elo"
    if isinf(high) or (isinf(elo) and elo > 0):
        return f"at least {low:+.0f} Elo"
    if isinf(low) or isinf(elo):
        return f"at most {high:+.0f} Elo"
    return f"{elo:+.0f} ± {(high - low) / 2:.0f} Elo"


def counted(number: int, thing: str) -> str:
    """Return a number with its noun, as in `1 match` or `2 matches`."""
    return f"{number} {thing}{'' if number == 1 else 'es' if thing.endswith('ch') else 's'}"


NOTHING: Final[Mapping[str, Json]] = {}


@dataclass(frozen=True, slots=True)
class LineUp:
    """The two bots to compare, and those that fill the other seats of their matches."""

    game: str
    bots: tuple[BotSpec, ...]
    """The new bot, the old one, then the others."""
    options: dict[str, Json] = field(default_factory=dict)
    isolation: Isolation = field(default_factory=Isolation)
    secrets: Secrets = field(default_factory=dict)

    @property
    def new(self) -> str:
        """The name of the bot that may be stronger."""
        return self.bots[0].name

    @property
    def old(self) -> str:
        """The name of the bot it is compared with."""
        return self.bots[1].name

    @property
    def new_bot(self) -> BotSpec:
        """The bot that may be stronger."""
        return self.bots[0]

    @property
    def seatings(self) -> list[tuple[BotSpec, ...]]:
        """The order of the seats in each match of a pair.

        Each bot plays in each seat once. If there are other bots, this is repeated with the new and
        the old bot swapped: with rotations alone, one would always sit behind the other.
        """
        new, old, *others = self.bots
        orders = [(new, old, *others)] + ([(old, new, *others)] if others else [])
        return [(*order[at:], *order[:at]) for order in orders for at in range(len(order))]

    def pair(self, label: str, seed: int) -> list[MatchSpec]:
        """Return the matches of a pair: one for each seating, all with the same seed."""
        return [
            MatchSpec(
                f"{label}-{number}", self.game, order, seed, self.options, isolation=self.isolation
            )
            for number, order in enumerate(self.seatings)
        ]

    def score(self, spec: MatchSpec, ranks: Sequence[int | None]) -> float:
        """Return the new bot's score against the old one in a match, from 0 to 1."""
        seats = [bot.name for bot in spec.bots]
        return score_between(ranks, seats.index(self.new), seats.index(self.old))


def score_between(ranks: Sequence[int | None], new: int, old: int) -> float:
    """Return the score of one seat against another one in a match, from 0 to 1.

    With other bots in the match, it is based on the share of opponents that the first seat
    outranked, minus that of the second one.
    """
    return (1 + outranked(ranks, new) - outranked(ranks, old)) / 2


def outranked(ranks: Sequence[int | None], seat: int) -> float:
    """Return the share of a match's opponents that a seat outranked; ties count half.

    A player without a rank is behind all ranked ones.

    >>> outranked([1, 3, 3, 2], 0), outranked([1, 3, 3, 2], 1)
    (1.0, 0.16666666666666666)
    """
    others = places(ranks)
    mine = others.pop(seat)
    return sum(result(mine, other) for other in others) / len(others)


def varying_option(line_up: LineUp) -> str:
    """Return an option of the game, `KEY=VALUE`, with which each seed starts differently.

    It is the first suitable one of those offered on web pages, or "" if there is none, or if seeds
    already start differently.

    >>> varying_option(read_line_up("paint", ["builtin:greedy", "builtin:walker"]))
    'obstacle_percent=10'
    """
    game, protocol = load_game(line_up.game), load_protocol(line_up.game)
    options, _ = parted(line_up.options, protocol)
    if starts_vary(game, len(line_up.bots), options):
        return ""
    for choice in load_play_options(line_up.game).choices:
        for value in choice.values:
            offered = {**options, choice.option: value}
            if offered != options and starts_vary(game, len(line_up.bots), offered):
                return f"{choice.option}={value}"
    return ""


def starts_vary(game: Game, players: int, options: Mapping[str, Json]) -> bool:
    """Return whether two seeds start differently, as far as players can see."""
    views: list[Json] = []
    for seed in (1, 2):
        try:
            state = game.rules.new(players, seed, **options)
        except UsageError:
            return False
        first = game.rules.players(state)[0]
        views.append(game.codec.view_to_json(game.rules.observe(state, first)))
    return bool(views[0] != views[1])


def read_line_up(
    game: str,
    bots: Sequence[str],
    players: int | None = None,
    settings: Sequence[str] = (),
    options: Mapping[str, Json] = NOTHING,
) -> LineUp:
    """Read the bots of a comparison and their fillers; raise UsageError if it cannot be played.

    `bots` are bot arguments: the new one, the old one, and any others. If a match has or needs more
    players, built-in strategies fill the seats, strongest first. Options that keep matches from
    being alike are set unless given.
    """
    strategies = load_strategies(game)
    seats = load_game(game).rules.seats
    number = players or max(len(bots), seats.start)
    if number < len(bots):
        raise UsageError(f"--players {number} is too few for {len(bots)} bots")
    check_number(game, seats, number)
    builtins = cycle([f"builtin:{name}" for name in reversed(list(strategies))])
    texts = list(islice(chain(bots, builtins), number))
    arguments = read_bots(texts, settings, list(strategies))
    measured = load_play_options(game).measured
    return LineUp(game, tuple(arguments.bots), {**measured, **options}, secrets=arguments.secrets)


REPEATS_SEEN: Final = 5
"""Pairs needed to detect repetition: in a tiny game, matches may be equal by chance."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The state of a comparison."""

    line_up: LineUp
    hypotheses: Hypotheses
    most: int
    """Maximum number of pairs, after which it ends undecided."""
    scores: PairScores = field(default_factory=PairScores)
    decision: Decision | None = None
    matches: tuple[MatchLine, ...] = ()
    """The matches of the pairs that count."""
    wins: int = 0
    """Number of matches in which the new bot was ahead of the old one."""
    losses: int = 0
    repeated: int = 0
    """Number of pairs that repeat the matches of an earlier pair."""

    @property
    def repeats(self) -> bool:
        """Whether most pairs are repetitions: more would decide the test without evidence."""
        is_seen = self.scores.pairs >= min(REPEATS_SEEN, self.most)
        return is_seen and 2 * self.repeated > self.scores.pairs

    @property
    def draws(self) -> int:
        """Number of matches in which both bots did equally well."""
        return len(self.matches) - self.wins - self.losses

    @property
    def is_over(self) -> bool:
        """Whether no more pairs are needed."""
        return self.decision is not None or self.repeats or self.scores.pairs >= self.most

    @property
    def matches_left(self) -> int:
        """The expected number of remaining matches."""
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
    """Raise UsageError if these are too few matches for a pair."""
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
        """The header of its journal: everything on which the matches depend."""
        return {
            "kind": "comparison",
            "game": self.line_up.game,
            "bots": [f"{bot.name}={bot.spec}" for bot in self.line_up.bots],
            "settings": {bot.name: {**bot.own_settings} for bot in self.line_up.bots},
            "options": self.line_up.options,
            "seed": self.seed,
        }

    def pair(self, number: int) -> list[MatchSpec]:
        """Return the matches of a pair; pairs are counted from 0."""
        return self.line_up.pair(f"pair-{number}", self.seed + number)

    def specs(self) -> Iterator[MatchSpec]:
        """Yield all matches that may be needed."""
        for number in range(self.begin.most):
            yield from self.pair(number)

    def standing(self, journal: Journal, now: Comparison) -> Iterator[Comparison]:
        """Yield the comparison after each additional finished pair, in order, until it ends."""
        while not now.is_over:
            pair = self.pair(now.scores.pairs)
            lines = tuple(journal.lines[spec.id] for spec in pair if spec.id in journal.lines)
            if len(lines) < len(pair):
                return
            now = now.with_pair(pair, lines)
            yield now

    def now(self, journal: Journal) -> Comparison:
        """Return the comparison after all finished pairs in a journal."""
        return advanced(self, journal, self.begin, lambda _: None)


async def compare(contest: Contest, journal: Journal, playing: Players, watch: Watch) -> Comparison:
    """Play pairs until the test decides or the maximum is reached; return the final comparison.

    Matches that are in the journal are not played again.
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
    """Return a comparison with all finished pairs added."""
    for after in contest.standing(journal, now):
        watch(after)
        now = after
    return now


def sentence(comparison: Comparison) -> str:
    """Return the result of a comparison.

    >>> from cw.lab.comparison import read_line_up
    >>> from cw.league.strength_tests import Hypotheses, PairScores
    >>> pair = ("v2=builtin:greedy", "v1=builtin:random")
    >>> line_up = read_line_up("paint", pair)
    >>> sentence(Comparison(line_up, Hypotheses(), 90, PairScores(50, 25.5, 14.0)))
    'undecided after 0 matches: v2 is at +7 ± 33 Elo against v1 (LLR -0.21 between -2.94 and 2.94)'
    """
    if comparison.repeats:
        return f"undecided: these bots repeat one match{advice(comparison.line_up)}"
    return verdict(evidence_of(comparison))


def advice(line_up: LineUp) -> str:
    """Return the end of the message about a repeated match: how to avoid it, if possible."""
    if option := varying_option(line_up):
        return f"; vary the start with `--option {option}`"
    has_room = len(line_up.bots) + 1 in load_game(line_up.game).rules.seats
    others = "; let other bots play along with `--among`" if has_room else ""
    return f", whatever the start{others}"


def progress(comparison: Comparison) -> str:
    """Return the state of a comparison as one line."""
    return standing(evidence_of(comparison))


def evidence_of(comparison: Comparison) -> Evidence:
    """Return the evidence of a comparison."""
    line_up = comparison.line_up
    return Evidence(
        line_up.new,
        line_up.old,
        comparison.hypotheses,
        comparison.scores,
        comparison.decision,
        len(comparison.matches),
    )


def faults_by_bot(matches: Iterable[MatchLine]) -> dict[str, list[tuple[MatchLine, BotFaults]]]:
    """Return by bot the matches in which it made faults, with these faults, in order."""
    by_bot: dict[str, list[tuple[MatchLine, BotFaults]]] = {}
    for line in matches:
        for faults in line.faults:
            by_bot.setdefault(faults.bot, []).append((line, faults))
    return by_bot


def kinds_of(matches: Iterable[tuple[MatchLine, BotFaults]]) -> dict[str, int]:
    """Return the number of a bot's faults of each kind in these matches, most frequent first."""
    kinds: Counter[str] = Counter()
    for _, faults in matches:
        kinds.update(faults.kinds)
    return dict(kinds.most_common())


def fault_lines(comparison: Comparison) -> list[str]:
    """Return a line per faulty bot: how many faults it made, in how many matches, and the first."""
    lines, turn_after = [], load_endings(comparison.line_up.game).turn_after
    for bot, matches in faults_by_bot(comparison.matches).items():
        kinds = kinds_of(matches)
        each = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
        match, first = matches[0]
        lines.append(
            f"{bot}: {counted(sum(kinds.values()), 'fault')} in {counted(len(matches), 'match')}"
            f" ({each}); the first in {turn_after(first.turn)} of seed {match.seed},"
            f" {' against '.join(match.bots[:2])}: {first.detail}"
        )
    return lines


def document(comparison: Comparison) -> dict[str, Json]:
    """Return a comparison as JSON for programs; unbounded Elo is null."""
    line_up, hypotheses = comparison.line_up, comparison.hypotheses
    elo, low, high = (None if isinf(e) else e for e in comparison.scores.estimate)
    return {
        "game": line_up.game,
        "new": line_up.new,
        "old": line_up.old,
        "among": [bot.name for bot in line_up.bots[2:]],
        "verdict": comparison.decision or "undecided",
        "sentence": sentence(comparison),
        "matches": len(comparison.matches),
        "pairs": comparison.scores.pairs,
        "wins": comparison.wins,
        "draws": comparison.draws,
        "losses": comparison.losses,
        "score": comparison.scores.mean,
        "elo": elo,
        "elo_interval": [low, high],
        "llr": ratio_of(comparison.scores, hypotheses),
        "llr_bounds": list(hypotheses.bounds),
        "elo0": hypotheses.elo0,
        "elo1": hypotheses.elo1,
        "alpha": hypotheses.alpha,
        "beta": hypotheses.beta,
        "repeated_pairs": comparison.repeated,
        "faults": {
            bot: kinds_of(matches) for bot, matches in faults_by_bot(comparison.matches).items()
        },
    }
