"""What has happened in matches, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from cw.championship.entries import Entry
from cw.games.endings import FORFEITS
from cw.league.fixtures import Result

FAULTS: Final[Mapping[str, tuple[str, str]]] = {
    "startup": ("failed start", "failed starts"),
    "disconnected": ("lost connection", "lost connections"),
    "timeout": ("time-out", "time-outs"),
    "crashed": ("crash", "crashes"),
    "malformed": ("unreadable reply", "unreadable replies"),
    "illegal": ("illegal move", "illegal moves"),
    "oversize": ("reply that was too long", "replies that were too long"),
}
"""The kinds of faults: one, and many of them."""

TIES: Final[Mapping[str, str]] = {
    "bye": "by a bye",
    "wins": "on wins",
    "score ratio": "on score ratio",
    "head-to-head": "on head-to-head",
    "tie-break matches": "in tie-break matches",
    "lot": "by lot",
}
"""By what the winner of a tie goes on."""


def fault_words(kind: str, number: int = 1) -> str:
    """Return the name of a kind of faults, for so many of them."""
    one, many = FAULTS.get(kind, (kind, kind))
    return one if number == 1 else many


def counted(kinds: Iterable[str]) -> list[str]:
    """Return faults by their number: `2 time-outs`, the most frequent first."""
    ranked = Counter(kinds).most_common()
    return [f"{number} {fault_words(kind, number)}" for kind, number in ranked]


def told(entry: Entry, result: Result, forfeits: Sequence[str | None]) -> str:
    """Return a sentence about a match: who won, by how much, and what went wrong.

    `result` is the match as the contest counts it; `forfeits` are, by seat, the kinds of the faults
    that are marked.
    """
    wrong = [
        f"{team}: {fault_words(kind)}"
        for team, kind in zip(entry.players, forfeits, strict=True)
        if kind is not None
    ]
    return "; ".join([f"{outcome(entry)} ({scores(result)})", *wrong])


def outcome(entry: Entry) -> str:
    """Return who won a match and by what."""
    if entry.winner is None:
        return f"Draw{by(entry)}"
    return f"{entry.winner} won{' by forfeit' if entry.reason in FORFEITS else by(entry)}"


def by(entry: Entry) -> str:
    """Return the reason of the end, "" for one that says no more than that."""
    reason = entry.reason.replace("_", " ")
    return "" if reason == "finished" else f", {reason}"


def scores(result: Result) -> str:
    """Return the scores: `30 : 19`, of more than two players with their names."""
    if len(result.players) == 2:
        return " : ".join(map(number, result.scores))
    named = zip(result.players, result.scores, strict=True)
    return ", ".join(f"{team} {number(score)}" for team, score in named)


def gathered(warnings: Iterable[str], teams: Collection[str]) -> list[str]:
    """Return warnings, each once; what is said of several teams stands behind all their names."""
    about: dict[str, dict[str, None]] = {}
    for warning in warnings:
        names, colon, rest = warning.partition(": ")
        named = names.split(", ")
        if colon and all(name in teams for name in named):
            about.setdefault(rest, {}).update(dict.fromkeys(named))
        else:
            about.setdefault(warning, {})
    return [f"{', '.join(names)}: {said}" if names else said for said, names in about.items()]


def number(score: float) -> str:
    """Return a score without a needless fraction."""
    return f"{score:g}"
