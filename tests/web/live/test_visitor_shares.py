"""How the processor time of live matches is shared, by a clock of the test."""

from __future__ import annotations

import asyncio
from threading import Thread
from time import thread_time
from typing import Any

import pytest

from cw.arena.bots import BotSpec
from cw.errors import QuotaError
from cw.matches.run import run_match
from cw.matches.spec import MatchSpec
from cw.web.live_match import AT_ONCE, MOST_VISITORS, PART, WHOLE, MatchMeter, Share, Shares
from tests.fixtures import FakeClock


def test_what_is_used_beyond_a_share_is_rested_off(clock: FakeClock) -> None:
    share = Share(0.25, clock)
    share.charge(AT_ONCE)
    assert share.rest() == 0
    share.charge(1)
    assert share.rest() == pytest.approx(4)
    clock.advance(3)
    assert share.rest() == pytest.approx(1)
    clock.advance(1000)
    share.charge(AT_ONCE)
    assert share.rest() == 0


def test_one_visitor_uses_a_third_in_the_long_run(clock: FakeClock) -> None:
    shares = Shares(clock)
    ann, used = shares.of("ann"), 0.0
    begin = clock.now
    while clock.now < begin + 1000:
        clock.advance(max(ann.rest(), 0.01))
        ann.charge(0.1)
        used += 0.1
    assert used == pytest.approx(1000 * WHOLE / PART, rel=0.02)
    assert shares.of("bob").rest() == 0


@pytest.mark.thorough
def test_all_together_use_what_pages_leave(clock: FakeClock) -> None:
    shares = Shares(clock)
    visitors = [shares.of(str(number)) for number in range(8)]
    used, begin = 0.0, clock.now
    while clock.now < begin + 1000:
        clock.advance(0.01)
        for share in visitors:
            if share.rest() == 0:
                share.charge(0.1)
                used += 0.1
    assert used == pytest.approx(1000 * WHOLE, rel=0.05)


def test_visitors_are_forgotten_when_there_are_too_many(clock: FakeClock) -> None:
    shares = Shares(clock)
    first = shares.of("first")
    for number in range(MOST_VISITORS):
        shares.of(str(number))
    assert shares.of("first") is not first


def test_a_visitor_computes_one_thing_at_a_time(clock: FakeClock) -> None:
    shares = Shares(clock)
    with shares.computing("ann"):
        with pytest.raises(QuotaError, match="another request of yours"), shares.computing("ann"):
            pass
        with shares.computing("bob"), shares.computing(""), shares.computing(""):
            pass
    with shares.computing("ann"):
        pass


def test_who_has_used_the_share_is_told_when_to_come_back(clock: FakeClock) -> None:
    shares = Shares(clock)
    shares.of("ann").charge(AT_ONCE + WHOLE / PART * 10)
    with pytest.raises(QuotaError, match="in 11 seconds"), shares.computing("ann"):
        pass
    clock.advance(11)
    with shares.computing("ann"):
        pass


def test_what_is_computed_for_a_visitor_is_charged(clock: FakeClock) -> None:
    shares = Shares(clock)

    def compute() -> None:
        with shares.computing("ann"):
            busy(AT_ONCE + 0.2)

    thread = Thread(target=compute)
    thread.start()
    thread.join()
    assert shares.of("ann").rest() > 0


def busy(seconds: float) -> None:
    """Use so many seconds of a processor."""
    until = thread_time() + seconds
    while thread_time() < until:
        sum(range(1000))


class CountingMeter(MatchMeter):
    """Counts what it is told."""

    def __init__(self, share: Share) -> None:
        super().__init__(share)
        self.rests = self.thoughts = 0

    async def rest(self) -> None:
        self.rests += 1
        await super().rest()

    def think(self, began: float) -> None:
        self.thoughts += 1
        super().think(began)


def test_built_in_bots_rest_before_each_thought_and_are_charged(clock: FakeClock) -> None:
    charged: list[float] = []

    class Listening(Share):
        """Notes what is charged."""

        def charge(self, seconds: float) -> None:
            charged.append(seconds)

    meter = CountingMeter(Listening(1, clock))

    def watch(_: Any) -> None:
        meter.turn()

    bots = (BotSpec("a", "builtin", "greedy"), BotSpec("b", "builtin", "random"))
    spec = MatchSpec("page", "hexagon", bots, 1, {"size": 3})
    result = asyncio.run(run_match(spec, on_turn=watch, meter=meter))
    assert meter.rests == meter.thoughts == result.turns
    assert len(charged) == 2 * result.turns
    assert min(charged) >= 0
