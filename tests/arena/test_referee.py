"""How the referee asks several bots at the same time."""

from __future__ import annotations

import asyncio

import pytest

from cw.arena.referee import together
from cw.arena.seats import Answer


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
