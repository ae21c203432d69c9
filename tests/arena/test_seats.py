"""Seats: which line is the answer, which fault counts, and who is not charged for whom."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from cw.arena.seats import Answer
from cw.arena.seats.in_process import InProcessSeat
from cw.arena.seats.lines import LineSeat, more_severe
from cw.arena.transports.stdio import StdioBot
from cw.games.rules import Fault
from cw.games.wire import Ignore, LineMessage, Query, QueryLimits, Reply

COUNTS = """
import sys, time
for number, line in enumerate(sys.stdin, start=1):
    if number == 1:
        time.sleep(float(sys.argv[1]))
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
        seat = await seated(tmp_path, COUNTS, "1.2")
        try:
            first = await seat.ask(query(b"a", number, SOON), lambda: None)
            rest = [await seat.ask(query(b"b", number, PATIENCE), lambda: None) for _ in range(2)]
            return [first, *rest]
        finally:
            await seat.close()

    first, second, third = asyncio.run(play())
    assert isinstance(first.value, Fault)
    assert first.value.kind == "timeout"
    assert (second.value, third.value) == (2, 3)


def test_an_answer_counts_whatever_came_before_it(tmp_path: Path) -> None:
    async def play(kind: str) -> Answer:
        seat = await seated(tmp_path, CHATTERS, kind)
        try:
            seconds = PATIENCE if kind == "answer" else SOON
            return await seat.ask(query(b"go", only_go, seconds, numbered=True), lambda: None)
        finally:
            await seat.close()

    assert asyncio.run(play("answer")).value == "gone"
    fault = asyncio.run(play("nothing")).value
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
