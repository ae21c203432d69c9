"""A bot that is asked again what it was asked in a match, beside its own thinking."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from bench.rows import Effort, Goal, NotMeasured, Row
from cw.arena.bots import BotSpec, read_bots
from cw.lab.ask import ask
from cw.lab.asked import AskedAnswer, Asking
from cw.matches.run import run_match
from cw.matches.spec import Isolation, MatchSpec

THINKING: Final = 0.02
"""Seconds that the bot takes for an answer."""

TURNS: Final = 500
BOT: Final = f"""
import time

def agent(view):
    end = time.perf_counter() + {THINKING}
    while time.perf_counter() < end:
        pass
    return {{"type": "walk", "direction": [1, 0]}}
"""


def rows(effort: Effort) -> list[Row]:
    """Ask about every turn of a match of Paint, in one pass."""
    turns = min(TURNS, 25 * effort.matches)
    with TemporaryDirectory() as folder:
        file = Path(folder, "bot.py")
        file.write_text(BOT, encoding="utf-8")
        seconds, thinking = asked_again(f"python:{file}:agent", turns)
    what = f"cw replay ask --every, {turns} turns"
    yardstick = f"the bot's thinking, {THINKING * 1000:g} ms a turn"
    return [Row("lab", what, seconds, "s", yardstick, thinking, Goal("<=", 2))]


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
