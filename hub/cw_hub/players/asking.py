"""Checks bots: programs step by step, web services by the admission of their game."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from traceback import format_exc
from typing import Any, Final, TypeAlias

from cw.errors import Failure, UsageError
from cw.games.checks import Readiness
from cw.games.registry import load_admission
from cw.games.rules import Fault
from cw.matches.checks.bot import Candidate, alone, check, probe
from cw.matches.checks.ready import ask_ready
from cw_hub.players.messages import (
    Answered,
    Answers,
    Ask,
    Check,
    Done,
    Message,
    Question,
    Readinesses,
    Ready,
)
from cw_hub.players.programs import Room

AT_ONCE: Final = 100
"""Maximum number of bots that are asked at the same time."""

OWN_AT_ONCE: Final = 3
"""Maximum number of these that belong to one owner."""

Step: TypeAlias = dict[str, Any]


@dataclass(slots=True)
class Steps:
    """The steps of a check so far (see `checks.CheckReport`)."""

    entries: list[Step] = field(default_factory=list)

    def step(self, name: str, problem: Fault | str | None, fix: str) -> bool:
        """Record a step."""
        self.entries.append(entry_of(name, problem, fix))
        return problem is None

    def warn(self, name: str, problem: Fault | str | None, fix: str) -> None:
        """Record a step whose failure does not make a bot inactive."""
        self.entries.append({**entry_of(name, problem, fix), "warning": True})


def entry_of(name: str, problem: Fault | str | None, fix: str) -> Step:
    """Return a step as stored in rows of bots."""
    if problem is None:
        return {"step": name, "ok": True}
    sentence = problem.sentence if isinstance(problem, Fault) else problem
    return {"step": name, "ok": False, "problem": sentence, "fix": fix}


def failed(name: str, problem: str) -> tuple[Step, ...]:
    """Return the only step of a check that could not continue."""
    return (entry_of(name, problem, ""),)


def check_program(task: Check, room: Room) -> Answers:
    """Run a program through the steps of `cw check`."""
    bot = room.bots(task.game).get(task.bot.name, task.bot)
    if bot.kind == "absent":
        return Answers(failed("program", bot.target))
    candidate = Candidate(task.game, bot, {}, task.isolation, task.options)
    return Answers(tuple(step.to_json() for step in check(candidate)))


def ask(task: Ask, report: Callable[[Message], object]) -> Done:
    """Ask web services concurrently, only a few of each owner; report each."""
    asyncio.run(ask_all(task, report))
    return Done()


async def ask_all(task: Ask, report: Callable[[Message], object]) -> None:
    """Ask web services; report each."""
    places = asyncio.Semaphore(AT_ONCE)
    own_places = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(OWN_AT_ONCE))
    # A silent name server keeps a thread busy for longer than its bot's timeout.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2 * AT_ONCE))

    async def ask_one(number: int, question: Question) -> None:
        async with own_places[question.owner], places:
            report(await answered(number, question))

    await asyncio.gather(*(ask_one(*each) for each in enumerate(task.questions)))


async def answered(number: int, question: Question) -> Answered:
    """Ask a web service; return the result."""
    try:
        return Answered(number, tuple(await steps_of(question)))
    except UsageError as error:
        return Answered(number, failed("address", str(error)))
    except Failure:
        return Answered(number, None, format_exc())


async def steps_of(question: Question) -> list[Step]:
    """Ask a bot by the admission of its game, or by the steps of its checks if it has none."""
    bot = question.bot
    secrets: Mapping[str, dict[str, str]] = {bot.name: question.secrets}
    candidate = Candidate(question.game, bot, secrets, question.isolation)
    admission = load_admission(question.game)
    if admission is None:
        return [step.to_json() for step in await probe(candidate)]
    steps = Steps()
    async with alone(candidate) as (referee, player):
        if await admission.health(referee, player, steps) and not question.health_alone:
            await admission.protocol(referee, player, steps)
    return steps.entries


def ask_if_ready(task: Ready) -> Readinesses:
    """Ask web services whether they are ready to play."""
    asked = ask_ready(task.game, task.bots, task.secrets, task.isolation)
    return Readinesses(tuple(map(plain, asyncio.run(asked))))


def plain(readiness: Readiness) -> Readiness:
    """Return a bot's readiness without the body and headers of its reply, which are not needed."""
    reply = readiness.reply
    return replace(readiness, reply=reply and replace(reply, body=b"", headers={}))
