"""Who meets whom in a round of a ladder, and in which seat; drawn from a seed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from random import Random
from typing import Any, Protocol, TypeVar

from cw.league.schedule import circle_round, circle_rounds


class Ordered(Hashable, Protocol):
    """An entry; draws start from sorted entries, so they do not depend on input order."""

    def __lt__(self, other: Any, /) -> bool:
        """Return whether this entry comes first."""


T = TypeVar("T", bound=Ordered)


def derived_seed(bits: int, seed: int, *parts: int | str) -> int:
    """Return a seed of `bits` bits that depends only on `seed` and `parts`."""
    return Random(" ".join(map(str, (seed, *parts)))).getrandbits(bits)


def pairs(entries: Iterable[T], seed: int) -> list[tuple[T, T]]:
    """Return the matches of a round in which every two meet once; the first mover comes first.

    The rows of the circle method are shuffled, and so are the matches within each row, to spread
    each entry's matches evenly over the round. Fewer than two entries play no match.

    >>> pairs(["ann", "bob", "cy"], seed=1)
    [('ann', 'bob'), ('cy', 'bob'), ('cy', 'ann')]
    """
    # A prefix for each purpose: draws for pairs and seats with the same seed are independent.
    rng = Random(f"pairs {seed}")
    # Sorted before it is shuffled: the plan must not depend on the order of rows in a database.
    order = shuffled(sorted(entries), rng)
    if len(order) < 2:
        return []
    rows = shuffled(range(circle_rounds(len(order))), rng)
    planned = [pair for row in rows for pair in shuffled(circle_round(len(order), row), rng)]
    return [
        (order[a], order[b]) if rng.random() < 0.5 else (order[b], order[a]) for a, b in planned
    ]


def seats(entries: Iterable[T], seed: int) -> tuple[T, ...]:
    """Return the seating of a match of all entries."""
    return tuple(shuffled(sorted(entries), Random(f"seats {seed}")))


Item = TypeVar("Item")


def shuffled(values: Iterable[Item], rng: Random) -> list[Item]:
    """Return values in random order."""
    copy = list(values)
    rng.shuffle(copy)
    return copy
