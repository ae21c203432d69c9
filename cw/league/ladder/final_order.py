"""The final order of a ladder: by points, then by its tie-breaks, finally by lot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from random import Random
from typing import Final, Generic, Literal, TypeAlias

from cw.league.ladder.rounds import T, shuffled

TieBreak: TypeAlias = Literal["battles", "scores", "meetings", "lot"]
"""What puts an entry before another with equal points."""

FIGURES: Final[tuple[TieBreak | None, ...]] = (None, "battles", "scores")
"""What each figure of `EntryTotals.key` decides; the points are no tie-break."""


@dataclass(frozen=True)
class EntryTotals(Generic[T]):
    """The totals of an entry over all rounds, which decide the final order."""

    entry: T
    points: float
    games_diff: int = 0
    score_diff: float = 0

    @property
    def key(self) -> tuple[float, int, float]:
        """The figures that are compared first, higher is better."""
        return self.points, self.games_diff, self.score_diff


def final_order(
    totals: Iterable[EntryTotals[T]], head_to_head: Mapping[tuple[T, T], float], seed: int
) -> list[T]:
    """Return entries in the order of prizes and of the final.

    Ties on points are broken by games won minus lost, then by scores, then by the points among the
    tied (`head_to_head`: of the first against the second), and finally by a lot drawn from the
    seed.
    """
    return [ranked.entry for ranked in final_table(totals, head_to_head, seed)]


@dataclass(frozen=True, slots=True)
class Ranked(Generic[T]):
    """An entry in the final order."""

    entry: T
    totals: EntryTotals[T]
    ahead_by: TieBreak | None
    """What puts it before the next one; None if that is points, and for the last."""


def final_table(
    totals: Iterable[EntryTotals[T]], head_to_head: Mapping[tuple[T, T], float], seed: int
) -> list[Ranked[T]]:
    """Return the final order, with what separated entries of equal points.

    >>> ann, bob = EntryTotals("ann", 9, games_diff=1), EntryTotals("bob", 9, games_diff=2)
    >>> [(row.entry, row.ahead_by) for row in final_table([ann, bob], {}, seed=1)]
    [('bob', 'battles'), ('ann', None)]
    """
    ordered = sorted(totals, key=lambda entry: entry.key, reverse=True)
    by_entry = {row.entry: row for row in ordered}
    ties = [[row.entry for row in tied] for _, tied in groupby(ordered, lambda row: row.key)]
    lots = [lot for tied in ties for lot in untied(tied, head_to_head, seed)]
    number = {entry: index for index, lot in enumerate(lots) for entry in lot}
    order = [entry for lot in lots for entry in lot]
    decided = [
        "lot" if number[one] == number[other] else tie_break(by_entry[one], by_entry[other])
        for one, other in pairwise(order)
    ]
    return [
        Ranked(entry, by_entry[entry], ahead_by)
        for entry, ahead_by in zip(order, [*decided, None], strict=False)
    ]


def tie_break(one: EntryTotals[T], other: EntryTotals[T]) -> TieBreak | None:
    """Return what puts an entry before the next one, if not a lot."""
    figures = zip(FIGURES, one.key, other.key, strict=True)
    return next((name for name, mine, its in figures if mine != its), "meetings")


def untied(
    tied: Sequence[T], head_to_head: Mapping[tuple[T, T], float], seed: int
) -> Iterator[list[T]]:
    """Yield tied entries by the points among them, repeatedly for those that stay tied.

    Inseparable entries are in one list, in the order of a lot.
    """
    points = {
        entry: sum(head_to_head.get((entry, other), 0) for other in tied if other != entry)
        for entry in tied
    }
    ordered = sorted(tied, key=points.__getitem__, reverse=True)
    parts = [list(part) for _, part in groupby(ordered, points.__getitem__)]
    if len(parts) == 1:
        # The points among them separate nobody any more: only a lot is left.
        yield list(shuffled(sorted(tied), Random(f"lot {seed}")))
        return
    for part in parts:
        yield from untied(part, head_to_head, seed)
