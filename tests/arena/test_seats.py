"""Seats: which line is the answer, which fault counts, and who is not charged for whom."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from cw.arena.seats import SKIPPED, Answer, Look
from cw.arena.seats.lines import LineSeat, more_severe
from cw.arena.seats.wrappers import ASKED_IN, HumanSeat, ImpatientSeat, InProcessSeat
from cw.arena.transports.stdio import LINE_CAP, StdioBot
from cw.games.rules import Fault
from cw.games.wire import Ignore, LineMessage, Query, QueryLimits, Reply

COUNTS = """
import os, sys, time
for number, line in enumerate(sys.stdin, start=1):
    while number == 1 and not os.path.exists(sys.argv[1]):
        time.sleep(0.01)
    print(number, flush=True)
"""

CHATTERS = """
import sys
for line in sys.stdin:
    print("thinking", flush=True)
    print("x" * 70_000, flush=True)
    print(line.strip() if sys.argv[1] == "answer" else "hm", flush=True)
"""

SOON = 0.4
PATIENCE = 60.0


def number(reply: Reply) -> Any:
    return int(reply.body)


def only_go(reply: Reply) -> Any:
    if reply.body == b"go":
        return "gone"
    return Ignore(Fault("malformed", f"not go: {reply.body[:20]!r}"))


async def seated(folder: Path, source: str, argument: str) -> LineSeat:
    file = folder / "bot.py"
    file.write_text(source)
    bot = await StdioBot.start([sys.executable, str(file), argument])
    assert isinstance(bot, StdioBot)
    return LineSeat(bot)


def query(text: bytes, read: Any, seconds: float, *, numbered: bool = False) -> Query:
    return Query(LineMessage(text, numbered=numbered), read, QueryLimits(seconds), action=True)


def test_a_late_answer_is_not_taken_for_the_next_one(tmp_path: Path) -> None:
    async def play() -> list[Answer]:
        answers = tmp_path / "answers"
        seat = await seated(tmp_path, COUNTS, str(answers))
        try:
            first = await seat.ask(query(b"a", number, SOON), lambda: None)
            answers.touch()
            rest = [await seat.ask(query(b"b", number, PATIENCE), lambda: None) for _ in range(2)]
            return [first, *rest]
        finally:
            await seat.close()

    first, second, third = asyncio.run(play())
    assert isinstance(first.value, Fault)
    assert first.value.kind == "timeout"
    assert (second.value, third.value) == (2, 3)


def test_an_answer_counts_whatever_came_before_it(tmp_path: Path) -> None:
    async def play(kind: str, seconds: float) -> Answer:
        seat = await seated(tmp_path, CHATTERS, kind)
        try:
            if seconds == SOON:
                # However long it takes to start, such lines have come when its time begins: as many
                # bytes as are read before somebody wants a line.
                assert await seat.bot.send(b"go", PATIENCE) is None
                while seat.bot.received <= LINE_CAP:
                    await asyncio.sleep(0.01)
            return await seat.ask(query(b"go", only_go, seconds, numbered=True), lambda: None)
        finally:
            await seat.close()

    assert asyncio.run(play("answer", PATIENCE)).value == "gone"
    fault = asyncio.run(play("nothing", SOON)).value
    assert isinstance(fault, Fault)
    assert fault.kind == "oversize"


def test_the_graver_fault_counts() -> None:
    late, odd, dead = (Fault(kind, "") for kind in ("timeout", "malformed", "crashed"))
    assert more_severe(late, odd) == more_severe(odd, late) == odd
    assert more_severe(odd, dead) == dead
    assert more_severe(Fault("timeout", "first"), Fault("timeout", "second")).detail == "first"


class Slow:
    """Thinks for a while; or not at all, and raises."""

    def act(self, view: float) -> str:
        if view < 0:
            raise ValueError("no idea")
        time.sleep(view)
        return "thought"


def test_a_thought_does_not_hold_up_the_others() -> None:
    async def play() -> tuple[Answer, float]:
        ask = query(b"", None, PATIENCE)
        thinking = asyncio.create_task(InProcessSeat(Slow()).ask(ask, lambda: 0.5))
        longest = 0.0
        while not thinking.done():
            began = time.perf_counter()
            await asyncio.sleep(0.01)
            longest = max(longest, time.perf_counter() - began)
        return await thinking, longest

    answer, longest = asyncio.run(play())
    assert answer.value == "thought"
    assert answer.seconds >= 0.5
    assert longest < answer.seconds


def test_a_strategy_that_raises_has_crashed() -> None:
    answer = asyncio.run(InProcessSeat(Slow()).ask(query(b"", None, 1.0), lambda: -1.0))
    assert isinstance(answer.value, Fault)
    assert (answer.value.kind, "no idea" in answer.value.detail) == ("crashed", True)


HANGS = """
import sys, time
sys.stdin.readline()
print(1, flush=True)
time.sleep(600)
"""


def test_a_bot_that_hangs_is_told_of_in_one_sentence(tmp_path: Path) -> None:
    """Whether its pipe has room for the next line makes no difference to its author."""

    async def play() -> list[Answer]:
        seat = await seated(tmp_path, HANGS, "")
        try:
            answers = [await seat.ask(query(b"go", number, PATIENCE), lambda: None)]
            texts = (b"short", b"x" * (1 << 20), b"short", b"short")
            late = [await seat.ask(query(text, number, SOON), lambda: None) for text in texts]
            return [*answers, *late]
        finally:
            await seat.close()

    first, *late = [answer.value for answer in asyncio.run(play())]
    assert first == 1
    assert {fault.kind for fault in late} == {"timeout"}
    assert {fault.detail for fault in late} == {f"no line came within {SOON} s"}


class Recorded(HumanSeat):
    """A seat with answers that were given before."""

    def __init__(self, answers: Iterable[Any]) -> None:
        super().__init__()
        self.answers = iter(answers)
        self.asked = 0

    async def ask(self, query: Query, look: Look) -> Answer:
        self.asked += 1
        return Answer(next(self.answers), 1.0)


LATE = Fault("timeout", "no line came")


def asked(seat: ImpatientSeat, turns: int) -> list[Answer]:
    async def play() -> list[Answer]:
        return [await seat.ask(query(b"", None, 1.0), lambda: None) for _ in range(turns)]

    return asyncio.run(play())


def test_a_bot_that_is_late_again_and_again_is_asked_in_one_turn_of_ten() -> None:
    inner = Recorded([LATE] * 100)
    answers = asked(ImpatientSeat(inner, 10), 100)
    assert inner.asked == 10 + 90 // ASKED_IN
    assert [answer.value.kind for answer in answers] == ["timeout"] * 100
    assert {answer.value.detail for answer in answers} == {LATE.detail}
    skipped = [number for number, answer in enumerate(answers) if answer.value.cause == SKIPPED]
    assert skipped == [number for number in range(10, 100) if number % ASKED_IN != 9]


def test_a_bot_that_recovers_is_asked_in_every_turn_again() -> None:
    inner = Recorded([*[LATE] * 11, *range(30)])
    answers = [answer.value for answer in asked(ImpatientSeat(inner, 10), 50)]
    assert answers[28] == LATE or answers[28].cause == SKIPPED
    assert answers[29:] == list(range(21))


def test_only_late_answers_in_a_row_make_a_seat_impatient() -> None:
    wrong = Fault("malformed", "hm")
    inner = Recorded([*[LATE] * 9, wrong, *[LATE] * 9, 1, *[wrong] * 30])
    asked(ImpatientSeat(inner, 10), 50)
    assert inner.asked == 50


def test_what_is_no_action_is_asked_of_a_late_bot_too() -> None:
    inner = Recorded([*[LATE] * 10, "told"])
    seat = ImpatientSeat(inner, 10)
    asked(seat, 10)
    told = replace(query(b"", None, 1.0), action=False)
    assert asyncio.run(seat.ask(told, lambda: None)).value == "told"
