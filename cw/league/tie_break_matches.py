"""Tie-breaks: separate teams that their matches left equal, by extra matches or finally by lot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from cw.league.fixtures import Results, Round, open_fixtures
from cw.league.schedule import round_robin
from cw.league.standings import Order, by_figures, tally

MOST_PAIRS: Final = 10
"""Maximum number of pairs of tie-break matches between two teams before a lot is drawn."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The order of equal teams, as far as they have been separated."""

    order: Order
    rounds: tuple[Round, ...] = ()
    """All tie-break matches known to be needed so far, played or not."""
    notes: tuple[str, ...] = ()
    """One sentence for each decision."""
    by_lot: bool = False

    def plus(self, other: Settled) -> Settled:
        """Return both, concatenated."""
        return Settled(
            self.order + other.order,
            self.rounds + other.rounds,
            self.notes + other.notes,
            self.by_lot or other.by_lot,
        )


@dataclass(frozen=True, slots=True)
class TieBreaker:
    """Separates equal teams of one stage or group."""

    stage: str
    group: str | None
    results: Results
    seed: int

    def settle_all(self, order: Order, places: int) -> Settled:
        """Separate the equal teams of an order, as far as needed for its first `places` ranks."""
        settled = Settled(())
        for equal in order:
            settled = settled.plus(self.settle(equal, places - sum(map(len, settled.order))))
        return settled

    def settle(self, equal: tuple[str, ...], places: int, pair: int = 1) -> Settled:
        """Separate equal teams, as far as needed to decide who gets the first `places` ranks.

        Every two of them play a pair of tie-break matches with the same seed, one in each seat.
        They are ranked by the wins and score ratio of these matches alone; teams still equal play
        the next pair. After ten pairs a lot is drawn.
        """
        if len(equal) < 2 or places < 1:
            return Settled((equal,))
        # Deterministic bots repeat themselves, so more matches might never separate them.
        if pair > MOST_PAIRS:
            return drawn(equal, self.seed)
        rounds = tuple(
            round_robin(equal, double=True, stage=self.stage, group=self.group, tie_break=pair)
        )
        if open_fixtures(rounds, self.results):
            return Settled((equal,), rounds)
        played = [self.results[fixture] for fixtures in rounds for fixture in fixtures]
        order = by_figures(tally(played, equal))
        settled = Settled((), rounds, note(order, f"by tie-break matches, pair {pair}"))
        for part in order:
            left = places - sum(map(len, settled.order))
            settled = settled.plus(self.settle(part, left, pair + 1))
        return settled


def drawn(equal: Sequence[str], seed: int) -> Settled:
    """Separate equal teams by a lot that depends only on the seed and on their names.

    >>> drawn(("ann", "bob"), seed=1).by_lot
    True
    """
    lot = sorted(equal)
    # Sorted first: the lot must not depend on the order in which results arrived.
    Random(f"lot {seed} {' '.join(lot)}").shuffle(lot)
    order = tuple((team,) for team in lot)
    return Settled(order, (), note(order, f"by lot, drawn from the seed {seed}"), by_lot=True)


def note(order: Order, why: str) -> tuple[str, ...]:
    """Return a sentence saying who ranks above whom and why; () if all are still equal."""
    if len(order) < 2:
        return ()
    return (f"{' before '.join(' and '.join(equal) for equal in order)} {why}",)
