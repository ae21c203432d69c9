"""In which order the matches of a round are sent: slots are kept busy, and no bot too much."""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush
from random import Random

import pytest
from sqlalchemy import true

from cw.league.ladder import pairs
from cw_hub.competitions.tournament.progress import Load, WaitingMatch
from cw_hub.competitions.tournament.settings import settings_of

PARALLEL = 8
TEAMS = 20


def time_of_round(per_bot: int, seed: int) -> float:
    """Return how long a round takes, as a multiple of the time of full slots."""
    rng = Random(seed)
    settings = settings_of("hexagon", {"per_bot": per_bot, "parallel": PARALLEL})
    planned = enumerate(pairs(range(TEAMS), seed))
    queue = {1: [WaitingMatch(number, 1, pair) for number, pair in planned]}
    takes = {one.id: rng.uniform(0.5, 1.5) for one in queue[1]}
    now, playing = 0.0, list[tuple[float, int, tuple[int, ...]]]()
    while queue[1] or playing:
        load = Load(settings, true())
        for _, number, bots in playing:
            load.add(WaitingMatch(number, 1, bots))
        while (match := load.next_of(queue)) is not None:
            heappush(playing, (now + takes[match.id], match.id, match.bots))
        assert len(playing) <= PARALLEL
        assert max(Counter(bot for _, _, bots in playing for bot in bots).values()) <= per_bot
        now = heappop(playing)[0]
    return now * PARALLEL / sum(takes.values())


@pytest.mark.parametrize(("per_bot", "most"), [(4, 1.10), (1, 1.25)])
def test_a_round_takes_hardly_longer_than_its_matches(per_bot: int, most: float) -> None:
    for seed in range(5):
        assert time_of_round(per_bot, seed) <= most
