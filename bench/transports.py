"""Benchmark of matches over pipes and HTTP, compared to bare round trips with the same bots."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Final

from bench.rows import Effort, Goal, NotMeasured, Row, medians
from cw.arena.bots import read_bots
from cw.arena.transports.http import HttpBot
from cw.arena.transports.stdio import StdioBot
from cw.games.end_of_codes.codec import creatures
from cw.games.end_of_codes.protocol import FORM_HEADERS, urlencoded
from cw.games.end_of_codes.rules import EndOfCodes
from cw.games.end_of_codes.state import State
from cw.games.paint.rules import Paint
from cw.games.rules import Fault, Json
from cw.games.wire import QueryLimits, Request, compact
from cw.matches.run import run_match
from cw.matches.spec import Isolation, MatchSpec

ROOT: Final = Path(__file__).resolve().parents[1]
ECHO: Final = [sys.executable, "-m", "bench.echo"]
TURNS: Final = 400
MANY: Final = 100
"""Bots of the largest round."""


def rows(effort: Effort) -> list[Row]:
    """Measure both transports, and a round of many bots."""
    repeats = max(3, effort.matches // 4)
    with serving() as address:
        runs: dict[str, Callable[[], float]] = {
            "paint": lines_match,
            "pipes": lambda: asyncio.run(lines_bare()),
            "codes": lambda: http_match(address),
            "calls": lambda: asyncio.run(http_bare(address)),
        }
        figures = medians(runs, repeats)
        round_of = {
            "many": lambda: asyncio.run(crowd(address, MANY)),
            "one": lambda: asyncio.run(crowd(address, 1)),
        }
        rounds = medians(round_of, 3)
    overhead = (1 / figures["paint"] - 1 / figures["pipes"]) * 1000
    return [
        row("Paint over pipes, 2 bots", figures["paint"], "exchanges", figures["pipes"]),
        Row(
            "transports",
            "our own time for a move over pipes",
            overhead,
            "ms",
            "a bare exchange",
            1000 / figures["pipes"],
            Goal("<", 1.0, of="ours"),
        ),
        row("End of Codes over HTTP, 2 bots", figures["codes"], "requests", figures["calls"]),
        Row(
            "transports",
            "a round of 15,000 creatures for 100 bots",
            rounds["many"],
            "s",
            "for one bot",
            rounds["one"],
        ),
    ]


def row(what: str, ours: float, unit: str, bare: float) -> Row:
    """Return a row of messages a second, beside bare ones."""
    return Row("transports", what, ours, f"{unit}/s", f"bare {unit}", bare, Goal(">=", 0.7))


def messages_a_second(game: str, bots: Sequence[str], options: Mapping[str, Json]) -> float:
    """Play a match of two bots; give its messages a second, from the start state to the end."""
    times: list[float] = []
    spec = MatchSpec(
        "bench", game, tuple(read_bots(bots).bots), 1, dict(options), isolation=Isolation("off")
    )
    result = asyncio.run(run_match(spec, on_turn=lambda _: times.append(perf_counter())))
    if result.faults:
        raise NotMeasured(f"a bot failed: {result.faults[-1]}")
    return 2 * (len(times) - 1) / (times[-1] - times[0])


def lines_match() -> float:
    """Play Paint between two programs that answer at once."""
    command = f"exec:{' '.join(ECHO)} lines"
    return messages_a_second("paint", [command, command], {"turns": TURNS, "history": 0})


async def lines_bare() -> float:
    """Exchange lines of the same size with two such programs, at the same time."""
    state = Paint().new(["a", "b"], 1, turns=TURNS, history=0)
    message = compact(Paint().observe(state, "b"))
    bots = [await StdioBot.start([*ECHO, "lines"], cwd=ROOT) for _ in range(2)]
    started = [bot for bot in bots if isinstance(bot, StdioBot)]
    try:
        await asyncio.gather(*(bot.exchange(message, 10) for bot in started))
        began = perf_counter()
        for _ in range(TURNS):
            await asyncio.gather(*(bot.exchange(message, 10) for bot in started))
        return 2 * TURNS / (perf_counter() - began)
    finally:
        await asyncio.gather(*(bot.close() for bot in started))


@contextmanager
def serving() -> Iterator[str]:
    """Run the web service that answers at once."""
    with subprocess.Popen([*ECHO, "http"], stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            if server.stdout is None:
                raise NotMeasured("the echo server has no output")
            yield server.stdout.readline().removeprefix("listening on ").strip()
        finally:
            server.terminate()


def http_match(address: str) -> float:
    """Play End of Codes between two services that answer at once."""
    bots = [f"one={address}/one", f"two={address}/two"]
    return messages_a_second("end-of-codes", bots, {"M": 5, "MAX_HP": 5, "max_rounds": TURNS})


async def http_bare(address: str) -> float:
    """Send requests like those of a match to two such services, at the same time."""
    request = round_request(EndOfCodes().new(2, 1, M=5, MAX_HP=5))
    bots = [HttpBot(f"{address}/{name}") for name in ("one", "two")]
    try:
        began = perf_counter()
        for _ in range(TURNS):
            await asyncio.gather(*(bot.request(request, QueryLimits(10)) for bot in bots))
        return 2 * TURNS / (perf_counter() - began)
    finally:
        await asyncio.gather(*(bot.close() for bot in bots))


def round_request(state: State) -> Request:
    """Return what a match sends for a round, with its headers and its form."""
    fields = {"method": "create", "api_key": "0" * 32, "round": state.round}
    fields |= {"map": compact(creatures(state)), "gameid": 1, "myid": 1}
    form = urlencoded({**fields, "W": state.width, "H": state.height}, {})
    return Request("POST", "/round", form, FORM_HEADERS)


async def crowd(address: str, number: int) -> float:
    """Send the map of 15,000 creatures to some bots at once; give the seconds of the round."""
    world = compact(creatures(EndOfCodes().new(100, 1, M=150, MAX_HP=100)))
    bots = [HttpBot(f"{address}/one") for _ in range(number)]
    try:
        began = perf_counter()
        asked = (bot.request(Request("POST", "/round", world), QueryLimits(60)) for bot in bots)
        answers = await asyncio.gather(*asked)
        seconds = perf_counter() - began
    finally:
        await asyncio.gather(*(bot.close() for bot in bots))
    if any(isinstance(answer, Fault) for answer in answers):
        raise NotMeasured("a bot of the crowd failed")
    return seconds
