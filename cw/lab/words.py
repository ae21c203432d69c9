"""The state of a comparison, in words for people and as a document for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import isinf

from cw.games.registry import load_endings, load_game
from cw.games.rules import Json
from cw.lab.comparison import Comparison
from cw.lab.evidence import Evidence, counted, standing, verdict
from cw.lab.journal import BotFaults, MatchLine
from cw.lab.line_up import LineUp, varying_option
from cw.league.statistics.sprt import ratio_of


def sentence(comparison: Comparison) -> str:
    """Return the result of a comparison.

    >>> from cw.lab.line_up import read_line_up
    >>> from cw.league.statistics.sprt import Hypotheses, PairScores
    >>> pair = ("v2=builtin:greedy", "v1=builtin:random")
    >>> line_up = read_line_up("paint", pair)
    >>> sentence(Comparison(line_up, Hypotheses(), 90, PairScores(50, 25.5, 14.0)))
    'undecided after 0 matches: v2 is at +7 ± 33 Elo against v1 (LLR -0.21 between -2.94 and 2.94)'
    """
    if comparison.repeats:
        return f"undecided: these bots repeat one match{advice(comparison.line_up)}"
    return verdict(evidence_of(comparison))


def advice(line_up: LineUp) -> str:
    """Return the rest of the sentence about bots that repeat one match: how to avoid it."""
    if option := varying_option(line_up):
        return f"; vary the start with `--option {option}`"
    has_room = len(line_up.bots) + 1 in load_game(line_up.game).rules.seats
    others = "; let other bots play along with `--among`" if has_room else ""
    return f", whatever the start{others}"


def progress(comparison: Comparison) -> str:
    """Return the state of a comparison on one line."""
    return standing(evidence_of(comparison))


def evidence_of(comparison: Comparison) -> Evidence:
    """Return the evidence of a comparison about its two bots."""
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
    """Return the matches in which each bot made faults, in order."""
    by_bot: dict[str, list[tuple[MatchLine, BotFaults]]] = {}
    for line in matches:
        for faults in line.faults:
            by_bot.setdefault(faults.bot, []).append((line, faults))
    return by_bot


def kinds_of(matches: Iterable[tuple[MatchLine, BotFaults]]) -> dict[str, int]:
    """Return how many faults of each kind a bot made in these matches, most frequent first."""
    kinds: Counter[str] = Counter()
    for _, faults in matches:
        kinds.update(faults.kinds)
    return dict(kinds.most_common())


def fault_lines(comparison: Comparison) -> list[str]:
    """Return for each faulty bot how many faults it made, in how many matches, and the first."""
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
    """Return a comparison for programs; unbounded Elo is null."""
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
