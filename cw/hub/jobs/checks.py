"""Checks bots: asks them the steps of their game's protocol, and again and again their health."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, TypeAlias

from cw.arena.bots import SECRET_SETTINGS, BotSpec
from cw.errors import Failure, UsageError
from cw.games.registry import load_admission
from cw.games.rules import Fault
from cw.hub import logs
from cw.hub.jobs.programs import POLICIES, unpacked
from cw.hub.resources import Resources
from cw.hub.services import bot_health
from cw.hub.services.bot_health import Asked
from cw.hub.services.matches import ClaimedSeat
from cw.matches.check import alone, check, probe
from cw.matches.spec import Isolation, SandboxPolicy

AT_ONCE: Final = 100
"""Bots that are asked at the same time."""

WARNING: Final = "refusal"
"""The step that makes no bot inactive."""

logger = logging.getLogger(__name__)

Step: TypeAlias = Mapping[str, Any]


@dataclass(slots=True)
class Steps:
    """The steps of a check so far (see `wire.CheckReport`)."""

    found: list[Step] = field(default_factory=list)

    def step(self, name: str, problem: Fault | str | None, fix: str) -> bool:
        """Note a step."""
        said = problem.sentence if isinstance(problem, Fault) else problem
        step: dict[str, Any] = {"step": name, "ok": said is None}
        if said is not None:
            step |= {"problem": said, "fix": fix}
        if name == WARNING:
            step["warning"] = True
        self.found.append(step)
        return said is None


def check_bot(resources: Resources, bot: int) -> None:
    """Check a bot in full. Twice: asked twice. Late: what came of it is not written."""
    with resources.database.reading() as session:
        asked = bot_health.asked(session, bot)
    if asked is None:
        return
    logs.note(bot_id=asked.bot_id)
    if asked.seat is not None:
        note(resources, asked, steps_of_program(resources, asked, asked.seat))
    else:
        note(resources, asked, asyncio.run(steps_of(resources, asked)))


def steps_of_program(resources: Resources, asked: Asked, seat: ClaimedSeat) -> Sequence[Step]:
    """Run an upload for the steps of `cw check`; where the process runs none, say so."""
    isolation = isolation_of(resources.settings.bots_may_be, POLICIES[asked.hosting])
    with unpacked(resources.objects, asked.game, [seat], asked.hosting) as own:
        bot = own[seat.name]
        if bot.kind == "absent":
            return [{"step": "program", "ok": False, "problem": bot.target, "fix": ""}]
        return [found.to_json() for found in check(asked.game, bot, {}, isolation)]


def sweep_bots(resources: Resources) -> None:
    """Ask all bots that are due for their health, and those that are new for everything.

    Twice, or by two at once: each bot is asked by one of them.
    """
    every = timedelta(seconds=resources.settings.health_every)
    with resources.database.writing() as session:
        due = bot_health.take_due(session, resources.clock, every)
    asyncio.run(ask_all(resources, due))


async def ask_all(resources: Resources, due: Sequence[Asked]) -> None:
    """Ask bots, so many at the same time, and write what came of each."""
    places = asyncio.Semaphore(AT_ONCE)

    async def ask(asked: Asked) -> None:
        async with places:
            try:
                steps = await steps_of(resources, asked, health_alone=asked.is_known)
            except Failure:
                logger.exception(
                    "the bot %s cannot be asked", asked.bot_id, extra={"bot_id": asked.bot_id}
                )
                return
        await asyncio.to_thread(note, resources, asked, steps, health_alone=asked.is_known)

    await asyncio.gather(*map(ask, due))


def note(
    resources: Resources, asked: Asked, steps: Sequence[Step], *, health_alone: bool = False
) -> None:
    """Write what came."""
    with resources.database.writing() as session:
        if health_alone:
            problem = next((step["problem"] for step in steps if not step["ok"]), None)
            bot_health.note_health(session, resources.clock, asked, problem)
        else:
            bot_health.note_check(session, resources.clock, asked, steps)


async def steps_of(
    resources: Resources, asked: Asked, *, health_alone: bool = False
) -> Sequence[Step]:
    """Ask a bot for its health and, unless told otherwise, whether it speaks the protocol."""
    try:
        return await asked_steps(resources, asked, health_alone=health_alone)
    except UsageError as error:
        return [{"step": "address", "ok": False, "problem": str(error), "fix": ""}]


async def asked_steps(resources: Resources, asked: Asked, *, health_alone: bool) -> Sequence[Step]:
    """Ask a bot by the admission of its game; by the steps of its checks where it has none."""
    sealed = asked.secret
    secret = resources.sealer.open(sealed, asked.secret_row).decode() if sealed.data else ""
    known = {**asked.settings, "bot_id": asked.bot_id}
    bot = BotSpec(asked.name, "http", asked.endpoint.rstrip("/"), known)
    own = {bot.name: dict.fromkeys(SECRET_SETTINGS, secret)} if secret else {}
    isolation = isolation_of(resources.settings.bots_may_be)
    admission = load_admission(asked.game)
    if admission is None:
        return [found.to_json() for found in await probe(asked.game, bot, own, isolation)]
    steps = Steps()
    async with alone(asked.game, bot, own, isolation) as (referee, player):
        if await admission.health(referee, player, steps) and not health_alone:
            await admission.protocol(referee, player, steps)
    return steps.found


def isolation_of(bots_may_be: tuple[str, ...], sandbox: SandboxPolicy = "require") -> Isolation:
    """Return which addresses bots may have; programs run in the sandbox, or as the policy says."""
    first, *networks = bots_may_be
    return Isolation(sandbox, "any" if first == "any" else "public", tuple(networks))
