"""Descriptions of what happened in the matches of a championship."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from cw.arena.one_line import on_one_line
from cw.championship.entries import Entry, EntryFault
from cw.championship.journal import shortened
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
"""The kinds of faults, in the singular and in the plural."""

TIES: Final[Mapping[str, str]] = {
    "bye": "by a bye",
    "wins": "on wins",
    "score ratio": "on score ratio",
    "head-to-head": "on head-to-head",
    "tie-break matches": "in tie-break matches",
    "lot": "by lot",
}
"""How the winner of a tie is decided."""


def fault_words(kind: str, number: int = 1) -> str:
    """Return the name of a kind of fault, in the singular or plural."""
    one, many = FAULTS.get(kind, (kind, kind))
    return one if number == 1 else many


def counted(kinds: Iterable[str]) -> list[str]:
    """Return the number of faults of each kind, most frequent first: `2 time-outs`."""
    ranked = Counter(kinds).most_common()
    return [f"{number} {fault_words(kind, number)}" for kind, number in ranked]


NO_NAMES: Final[Mapping[str, str]] = {}


def troubles(entries: Sequence[Entry], names: Mapping[str, str] = NO_NAMES) -> list[str]:
    """Return a sentence about each team with failed starts, or with faults in most matches."""
    return [*never_started(entries, names), *mostly_at_fault(entries, names)]


def never_started(entries: Sequence[Entry], names: Mapping[str, str]) -> list[str]:
    """Return a sentence about each team whose bot could not be started, with one of the reasons."""
    starts: dict[str, list[str]] = {}
    for entry in entries:
        for fault in entry.faults:
            if fault.kind == "startup":
                starts.setdefault(entry.players[fault.seat], []).append(fault.detail)
    return [
        shortened(
            f"{names.get(team, team)}: {' '.join(counted(['startup'] * len(details)))}:"
            f" {on_one_line(details[-1])}"
        )
        for team, details in sorted(starts.items())
    ]


def mostly_at_fault(entries: Sequence[Entry], names: Mapping[str, str]) -> list[str]:
    """Return a sentence about each team with faults in most of its matches, with the last one.

    Failed starts do not count.
    """
    matches: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    faults: dict[str, list[EntryFault]] = {}
    for entry in entries:
        matches.update(entry.players)
        during = [fault for fault in entry.faults if fault.kind != "startup"]
        wrong.update({entry.players[fault.seat] for fault in during})
        for fault in during:
            faults.setdefault(entry.players[fault.seat], []).append(fault)
    return [
        shortened(
            f"{names.get(team, team)}: faults in {wrong[team]} of {matches[team]} matches:"
            f" {', '.join(counted(fault.kind for fault in own))}; the last:"
            f" {on_one_line(own[-1].detail)}"
        )
        for team, own in sorted(faults.items())
        if 2 * wrong[team] > matches[team]
    ]


def match_sentence(
    entry: Entry,
    result: Result,
    forfeits: Sequence[str | None],
    names: Mapping[str, str] = NO_NAMES,
) -> str:
    """Describe a match in a sentence: who won, by how much, and what went wrong.

    `result` is the match as the contest counts it; `forfeits` are the kinds of the marked faults,
    by seat; `names` are the names of teams, by id.
    """
    wrong = [
        f"{names.get(team, team)}: {fault_words(kind)}"
        for team, kind in zip(entry.players, forfeits, strict=True)
        if kind is not None
    ]
    return "; ".join([f"{outcome(entry, names)} ({scores(result, names)})", *wrong])


def outcome(entry: Entry, names: Mapping[str, str] = NO_NAMES) -> str:
    """Return who won a match, and how."""
    if entry.winner is None:
        return f"Draw{by(entry)}"
    won = " by forfeit" if entry.reason in FORFEITS else by(entry)
    return f"{names.get(entry.winner, entry.winner)} won{won}"


def by(entry: Entry) -> str:
    """Return the reason for the end, or "" if it adds nothing."""
    reason = entry.reason.replace("_", " ")
    return "" if reason == "finished" else f", {reason}"


def scores(result: Result, names: Mapping[str, str] = NO_NAMES) -> str:
    """Return the scores: `30 : 19`, or with names if there are more than two players."""
    if len(result.players) == 2:
        return " : ".join(map(number, result.scores))
    named = zip(result.players, result.scores, strict=True)
    return ", ".join(f"{names.get(team, team)} {number(score)}" for team, score in named)


def gathered(warnings: Iterable[str], teams: Collection[str]) -> list[str]:
    """Return warnings, each once; a warning about several teams follows all their names."""
    about: dict[str, dict[str, None]] = {}
    for warning in warnings:
        names, colon, rest = warning.partition(": ")
        named = names.split(", ")
        if colon and all(name in teams for name in named):
            about.setdefault(rest, {}).update(dict.fromkeys(named))
        else:
            about.setdefault(warning, {})
    return [f"{', '.join(names)}: {text}" if names else text for text, names in about.items()]


def number(score: float) -> str:
    """Return a score without a needless fraction."""
    return f"{score:g}"
