"""How a comparison stands, in words for people and as a document for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import isinf

from cw.games.rules import Json
from cw.lab.comparison import Comparison
from cw.lab.journal import BotFaults, MatchLine
from cw.league.sprt import Estimate, ratio_of


def sentence(comparison: Comparison) -> str:
    """Return what came of a comparison.

    >>> from cw.lab.line_up import read_line_up
    >>> from cw.league.sprt import Hypotheses, PairScores
    >>> pair = ("v2=builtin:greedy", "v1=builtin:random")
    >>> line_up = read_line_up("paint", pair)
    >>> sentence(Comparison(line_up, Hypotheses(), 90, PairScores(50, 25.5, 14.0)))
    'undecided after 0 matches: v2 is at +7 ± 33 Elo against v1 (LLR -0.21 between -2.94 and 2.94)'
    """
    line_up, decided = comparison.line_up, comparison.decision
    lead = elo_in_words(comparison.scores.estimate)
    count = counted(len(comparison.matches), "match")
    if decided is None:
        return (
            f"undecided after {count}: {line_up.new} is at {lead} against {line_up.old}"
            f" ({ratio_in_words(comparison)})"
        )
    hypotheses = comparison.hypotheses
    stronger = decided == "stronger"
    error = hypotheses.alpha if stronger else hypotheses.beta
    passed = "passed" if stronger else "failed"
    return (
        f"{line_up.new} is {claim(comparison)} {line_up.old}: {lead} after {count}"
        f" (SPRT {passed}, {100 * error:g} % error)"
    )


def claim(comparison: Comparison) -> str:
    """Return what has been decided, with the Elo that are in question beside 0.

    At 5 % error, `not stronger` means that the lead is less than `elo1`.
    """
    hypotheses = comparison.hypotheses
    if comparison.decision == "stronger":
        return (
            f"stronger by more than {hypotheses.elo0:g} Elo than"
            if hypotheses.elo0
            else ("stronger than")
        )
    return f"not {hypotheses.elo1:g} Elo stronger than"


def progress(comparison: Comparison) -> str:
    """Return in one line how a comparison stands."""
    return (
        f"{counted(len(comparison.matches), 'match')}, score {comparison.scores.mean:.1%},"
        f" {elo_in_words(comparison.scores.estimate)}, {ratio_in_words(comparison)}"
    )


def ratio_in_words(comparison: Comparison) -> str:
    """Return the log-likelihood ratio and its bounds."""
    low, high = comparison.hypotheses.bounds
    ratio = ratio_of(comparison.scores, comparison.hypotheses)
    return f"LLR {ratio:.2f} between {low:.2f} and {high:.2f}"


def elo_in_words(estimate: Estimate) -> str:
    """Return a lead with its 95 % interval, as far as it has bounds.

    >>> elo_in_words(Estimate(43.2, 26.0, 60.4)), elo_in_words(Estimate(float("inf"), 338, 900))
    ('+43 ± 17 Elo', 'at least +338 Elo')
    """
    elo, low, high = estimate
    if isinf(low) and isinf(high):
        return "any number of Elo"
    if isinf(high) or (isinf(elo) and elo > 0):
        return f"at least {low:+.0f} Elo"
    if isinf(low) or isinf(elo):
        return f"at most {high:+.0f} Elo"
    return f"{elo:+.0f} ± {(high - low) / 2:.0f} Elo"


def counted(number: int, thing: str) -> str:
    """Return a number with what it counts: `1 match`, `2 matches`."""
    return f"{number} {thing}{'' if number == 1 else 'es' if thing.endswith('ch') else 's'}"


def faults_by_bot(matches: Iterable[MatchLine]) -> dict[str, list[tuple[MatchLine, BotFaults]]]:
    """Return the matches in which each bot made faults, in their order."""
    by_bot: dict[str, list[tuple[MatchLine, BotFaults]]] = {}
    for line in matches:
        for faults in line.faults:
            by_bot.setdefault(faults.bot, []).append((line, faults))
    return by_bot


def repeated_pairs(comparison: Comparison) -> int:
    """Return how many pairs were the same matches as an earlier one."""
    size = len(comparison.line_up.seatings)
    digests = [line.played for line in comparison.matches]
    pairs = [tuple(digests[at : at + size]) for at in range(0, len(digests), size)]
    return len(pairs) - len(set(pairs))


def repeats(comparison: Comparison) -> list[str]:
    """Return a sentence if most pairs were no news: figures then look surer than they are."""
    count, pairs = repeated_pairs(comparison), comparison.scores.pairs
    if 2 * count <= pairs:
        return []
    return [
        f"{count} of {pairs} pairs were the same matches again, so this says little: by this game's"
        " options each seed starts alike, and the bots draw no lots; vary the start (--option), or"
        " let other bots play along (--among)"
    ]


def kinds_of(matches: Iterable[tuple[MatchLine, BotFaults]]) -> dict[str, int]:
    """Return how many faults of each kind a bot made in these matches, the most frequent first."""
    kinds: Counter[str] = Counter()
    for _, faults in matches:
        kinds.update(faults.kinds)
    return dict(kinds.most_common())


def fault_lines(comparison: Comparison) -> list[str]:
    """Return for each bot that made faults how many, in how many matches, and the first one."""
    lines = []
    for bot, matches in faults_by_bot(comparison.matches).items():
        kinds = kinds_of(matches)
        each = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
        match, first = matches[0]
        lines.append(
            f"{bot}: {counted(sum(kinds.values()), 'fault')} in {counted(len(matches), 'match')}"
            f" ({each}); the first in turn {first.turn + 1} of seed {match.seed},"
            f" {' against '.join(match.bots[:2])}: {first.detail}"
        )
    return lines


def document(comparison: Comparison) -> dict[str, Json]:
    """Return a comparison for programs; Elo that nothing bounds is null."""
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
        "repeated_pairs": repeated_pairs(comparison),
        "faults": {
            bot: kinds_of(matches) for bot, matches in faults_by_bot(comparison.matches).items()
        },
    }
