"""People at the table: the match waits for them, and ends without a result when they have left."""

from __future__ import annotations

import asyncio

import pytest

from cw.arena.seats import Answer
from cw.arena.seats.wrappers import HumanSeat, InProcessSeat, PacedSeat
from cw.errors import Abandoned, OutOfTurn
from cw.games.wire import LineMessage, Query, QueryLimits, as_it_is

QUESTION = Query(LineMessage(b"?"), as_it_is, QueryLimits(1.0))
TURN = Query(LineMessage(b"?"), as_it_is, QueryLimits(1.0), action=True)


def test_a_person_is_waited_for() -> None:
    async def play() -> object:
        hand = HumanSeat()
        assert not hand.is_asked
        question = asyncio.create_task(hand.ask(TURN, lambda: None))
        while not hand.is_asked:
            await asyncio.sleep(0)
        hand.play("a move")
        assert not hand.is_asked
        with pytest.raises(OutOfTurn):
            hand.play("another")
        return (await question).value

    assert asyncio.run(play()) == "a move"


def test_only_actions_are_asked_of_a_person() -> None:
    answer = asyncio.run(HumanSeat().ask(QUESTION, lambda: None))
    assert answer.value is None


def test_who_is_not_asked_cannot_play() -> None:
    with pytest.raises(OutOfTurn):
        HumanSeat().play("a move")


def test_who_does_nothing_has_left() -> None:
    with pytest.raises(Abandoned):
        asyncio.run(HumanSeat(patience=0.01).ask(TURN, lambda: None))


def test_a_paced_seat_takes_its_time_for_actions_only() -> None:
    class Strategy:
        def act(self, view: object) -> str:
            return "at once"

    async def play() -> tuple[float, float, Answer]:
        seat = PacedSeat(InProcessSeat(Strategy()), 0.2)
        clock = asyncio.get_running_loop().time
        began = clock()
        await seat.ask(QUESTION, lambda: None)
        between = clock()
        answer = await seat.ask(TURN, lambda: None)
        return between - began, clock() - between, answer

    _, action, answer = asyncio.run(play())
    assert action >= 0.2
    assert answer.value == "at once"
    assert answer.seconds < action
