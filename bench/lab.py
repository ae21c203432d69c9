"""Benchmark of the lab: `cw replay ask` vs. the bot's thinking, comparisons vs. `cw play`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from bench.rows import Effort, Goal, NotMeasured, Row, medians
from cw.arena.bots import BotSpec, read_bots
from cw.cli.play import keeper
from cw.lab.ask import AskedAnswer, Asking, ask
from cw.lab.comparison import Comparison, Contest, LineUp, compare, read_line_up
from cw.lab.journal import Journal, players
from cw.lab.journal import opened as journals
from cw.league.strength_tests import Hypotheses
from cw.matches.run import run_match
from cw.matches.spec import Isolation, MatchSpec
from cw.matches.worker import Job
from cw.matches.workers import play_at_once, series

THINKING: Final = 0.02
"""Seconds that the bot takes for an answer."""

TURNS: Final = 500
JOBS: Final = 2
MATCHES: Final = 60
"""Of a comparison."""

BOT: Final = f"""
import time

def agent(view):
    end = time.perf_counter() + {THINKING}
    while time.perf_counter() < end:
        pass
    return {{"type": "walk", "direction": [1, 0]}}
"""


def rows(effort: Effort) -> list[Row]:
    """Ask about a match, and compare two bots."""
    return [asking(effort), comparing(effort)]


def asking(effort: Effort) -> Row:
    """Ask about every turn of a match of Paint, in one pass."""
    turns = min(TURNS, 25 * effort.matches)
    with TemporaryDirectory() as folder:
        file = Path(folder, "bot.py")
        file.write_text(BOT, encoding="utf-8")
        seconds, thinking = asked_again(f"python:{file}:agent", turns)
    what = f"cw replay ask --every, {turns} turns"
    yardstick = f"the bot's thinking, {THINKING * 1000:g} ms a turn"
    return Row("lab", what, seconds, "s", yardstick, thinking, Goal("<=", 2))


def asked_again(bot: str, turns: int) -> tuple[float, float]:
    """Return the seconds in which a bot is asked about its match, and those in which it thinks."""
    bots = tuple(read_bots(["builtin:greedy", f"mine={bot}"]).bots)
    isolation = Isolation("off")
    spec = MatchSpec("bench", "paint", bots, 1, {"turns": turns}, isolation=isolation)
    document = asyncio.run(run_match(spec, on_launch=quietly)).replay
    answers: list[AskedAnswer] = []
    began = perf_counter()
    asking = Asking(document, "mine", bots[1], isolation=isolation)
    problem = asyncio.run(ask(asking, answers.append, quietly))
    seconds = perf_counter() - began
    if problem or len(answers) != turns:
        raise NotMeasured(f"the bot was asked {len(answers)} times of {turns}: {problem}")
    return seconds, sum(answer.seconds for answer in answers)


def quietly(_: BotSpec, protection: str) -> None:
    """Say nothing of how a program is isolated."""


def comparing(effort: Effort) -> Row:
    """Play the same matches of Paint as a comparison, and as `cw play --jobs` does."""
    rounds = {"compare": compared, "play": by_play}
    seconds = medians(rounds, max(3, effort.matches // 2))
    return Row(
        "lab",
        f"cw compare --jobs {JOBS}, {MATCHES} matches of Paint",
        MATCHES / seconds["compare"],
        "matches/s",
        f"cw play --jobs {JOBS}, the same matches",
        MATCHES / seconds["play"],
        Goal(">=", 0.95),
    )


def line_up() -> LineUp:
    """Return two bots that are equally strong, so that nothing is decided."""
    bots = ("a=builtin:walker", "b=builtin:walker")
    return read_line_up("paint", bots, options={"turns": 50})


def compared() -> float:
    """Return the seconds of a comparison, from the start of its workers to their end."""
    contest = Contest(line_up(), Hypotheses(elo1=1), MATCHES, 1)

    async def play(journal: Journal) -> Comparison:
        async with players(JOBS, quietly) as playing:
            return await compare(contest, journal, playing, lambda _: None)

    with TemporaryDirectory() as folder, journals(Path(folder, "j"), contest.head) as journal:
        began = perf_counter()
        comparison = asyncio.run(play(journal))
        seconds = perf_counter() - began
    if len(comparison.matches) != MATCHES:
        raise NotMeasured(f"the comparison has ended after {len(comparison.matches)} matches")
    return seconds


def by_play() -> float:
    """Return the seconds in which `cw play` plays these matches and writes their replays."""
    bots, options = line_up().bots, line_up().options
    spec = MatchSpec("play", "paint", bots, 1, options)
    specs = list(series(spec, MATCHES // 2, swap=True))
    with TemporaryDirectory() as folder:
        keep = keeper(specs, Path(folder))
        began = perf_counter()
        jobs = [Job(spec) for spec in specs]
        asyncio.run(play_at_once(jobs, JOBS, keep, lambda _: None, quietly))
        return perf_counter() - began
