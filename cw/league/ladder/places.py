"""The places of a ladder, by points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from cw.league.ladder.rounds import T


def positions(totals: Mapping[T, float], competing: Collection[T]) -> dict[T, int]:
    """Return the position of each entry: 1, plus the number of competing ones with more points.

    Entries out of competition have positions too, but do not affect those of others.

    >>> positions({"ann": 9, "bob": 4, "cy": 4, "dan": 1}, competing={"ann", "bob", "cy", "dan"})
    {'ann': 1, 'bob': 2, 'cy': 2, 'dan': 4}
    """
    competitors = Counter(totals[entry] for entry in competing)
    position: dict[float, int] = {}
    following = 1
    for total in sorted(set(totals.values()), reverse=True):
        position[total] = following
        following += competitors[total]
    return {entry: position[total] for entry, total in totals.items()}
