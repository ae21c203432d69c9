"""How the referee asks several bots at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cw.arena.bots import read_bots
from cw.arena.referee import MatchRecord, MatchReferee, together
from cw.arena.seats import Answer
from cw.arena.transports.lines import SILENT
from cw.games.registry import load_game
from cw.games.rules import Fault
from cw.games.wire import LineMessage, Query, QueryLimits

GONE = Fault("crashed", "it has ended", lasting=True)
QUERY = Query(LineMessage(b"go"), lambda reply: reply, QueryLimits(1.0))


class SameAnswer:
    """A seat that gives the same answer whenever it is asked."""

    transport: Any = "stdio"
    stderr = SILENT

    def __init__(self, value: object) -> None:
        self.value, self.asked = value, 0

    async def ask(self, query: Query, look: object) -> Answer:
        self.asked += 1
        return Answer(self.value, 0.0)

    async def close(self) -> None:
        """Nothing is held."""


def referee_of(*seats: SameAnswer) -> MatchReferee:
    bots = read_bots(["builtin:random"] * len(seats)).bots
    record = MatchRecord(load_game("paint"), dict(enumerate(bots)), 0, {})
    return MatchReferee(record, dict(enumerate(seats)), {})


def test_all_are_asked_at_the_same_time_and_answer_in_their_order() -> None:
    async def meet() -> list[Answer]:
        barrier = asyncio.Barrier(3)

        async def ask(number: int) -> Answer:
            await barrier.wait()
            return Answer(number, 0.0)

        return await together(ask(number) for number in range(3))

    assert [answer.value for answer in asyncio.run(meet())] == [0, 1, 2]


@pytest.mark.parametrize("fails", [0, 1])
def test_whatever_ends_the_asking_ends_it_for_all(fails: int) -> None:
    ended: list[int] = []

    async def ask(number: int) -> Answer:
        try:
            await asyncio.sleep(0)
            if number == fails:
                raise RuntimeError
            await asyncio.Event().wait()
            return Answer(number, 0.0)
        finally:
            ended.append(number)

    async def meet() -> None:
        asking = asyncio.ensure_future(together(ask(number) for number in range(2)))
        for _ in range(5):
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait({asking})
        assert asking.cancelled() or isinstance(asking.exception(), RuntimeError)

    asyncio.run(meet())
    assert sorted(ended) == [0, 1]


def test_a_bot_that_has_ended_is_noted_once() -> None:
    referee = referee_of(SameAnswer(GONE), SameAnswer(Fault("timeout", "too late")))
    for _ in range(3):
        asyncio.run(referee.ask({0: QUERY, 1: QUERY}))
    noted = [(noted.player, noted.fault.kind) for noted in referee.record.faults]
    assert sorted(noted) == [(0, "crashed"), *[(1, "timeout")] * 3]


def test_who_is_disqualified_is_asked_nothing_more() -> None:
    cheat, honest = SameAnswer("a"), SameAnswer("b")
    referee = referee_of(cheat, honest)
    referee.disqualify(0, Fault("illegal", "it has cheated"))
    answers = asyncio.run(referee.ask({0: QUERY, 1: QUERY}))
    assert (answers[0].kind, answers[1]) == ("illegal", "b")
    assert (cheat.asked, honest.asked) == (0, 1)
    assert referee.record.faults == []
