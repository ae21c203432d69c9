"""The evidence of pairs of matches about two bots, in words."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf

from cw.league.statistics.sprt import Decision, Estimate, Hypotheses, PairScores, ratio_of


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of pairs of matches about two bots."""

    new: str
    """The name of the bot that may be stronger."""
    old: str
    hypotheses: Hypotheses
    scores: PairScores
    decision: Decision | None
    """None if undecided, for now or for good."""
    matches: int


def verdict(evidence: Evidence) -> str:
    """Return a sentence with the decision, or with its absence."""
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
    """Return the decision, with any Elo threshold other than 0.

    At 5 % error, `not stronger` means that the lead is less than `elo1`.
    """
    hypotheses = evidence.hypotheses
    if evidence.decision != "stronger":
        return f"not {hypotheses.elo1:g} Elo stronger than"
    if hypotheses.elo0:
        return f"stronger by more than {hypotheses.elo0:g} Elo than"
    return "stronger than"


def standing(evidence: Evidence) -> str:
    """Return the evidence about two bots on one line."""
    return (
        f"{counted(evidence.matches, 'match')}, score {evidence.scores.mean:.1%},"
        f" {elo_in_words(evidence.scores.estimate)}, {ratio_in_words(evidence)}"
    )


def ratio_in_words(evidence: Evidence) -> str:
    """Return the log-likelihood ratio and its bounds."""
    low, high = evidence.hypotheses.bounds
    ratio = ratio_of(evidence.scores, evidence.hypotheses)
    return f"LLR {ratio:z.2f} between {low:.2f} and {high:.2f}"


def elo_in_words(estimate: Estimate) -> str:
    """Return a lead with its 95 % interval, as far as it is bounded.

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
    """Return a number with what it counts: `1 match`, `2 matches`."""
    return f"{number} {thing}{'' if number == 1 else 'es' if thing.endswith('ch') else 's'}"
