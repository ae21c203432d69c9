"""Checks bots: asks them the steps of their game's protocol, and again and again their health."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, TypeAlias

from sqlalchemy.orm import Session

from cw.arena.bot_settings import SECRET_SETTINGS
from cw.arena.bots import BotSpec
from cw.errors import Failure, UsageError
from cw.games.registry import load_admission
from cw.games.rules import Fault
from cw.hub.bots import builds
from cw.hub.bots.addresses import INSECURE, address_problem, isolation_of
from cw.hub.bots.checks import asking
from cw.hub.bots.checks import health as bot_health
from cw.hub.bots.checks.health import CheckTarget, HostingOf, always_sandboxed
from cw.hub.bots.programs import hosting_of_people, object_key, sandbox_of, unpacked
from cw.hub.bots.seats import PROGRAM, ClaimedSeat
from cw.hub.operation.health import logs
from cw.hub.operation.resources import Resources
from cw.matches.checks.bot import Candidate, alone, check, probe

AT_ONCE: Final = 100
"""Bots that are asked at the same time."""

OWN_AT_ONCE: Final = 3
"""Those of one owner among them."""

logger = logging.getLogger(__name__)

Step: TypeAlias = Mapping[str, Any]


@dataclass(slots=True)
class Steps:
    """The steps of a check so far (see `checks.CheckReport`)."""

    entries: list[Step] = field(default_factory=list)

    def step(self, name: str, problem: Fault | str | None, fix: str) -> bool:
        """Note a step."""
        self.entries.append(entry_of(name, problem, fix))
        return problem is None

    def warn(self, name: str, problem: Fault | str | None, fix: str) -> None:
        """Note a step that makes no bot inactive."""
        self.entries.append({**entry_of(name, problem, fix), "warning": True})


def entry_of(name: str, problem: Fault | str | None, fix: str) -> Step:
    """Return a step as rows of bots keep it."""
    if problem is None:
        return {"step": name, "ok": True}
    sentence = problem.sentence if isinstance(problem, Fault) else problem
    return {"step": name, "ok": False, "problem": sentence, "fix": fix}


def check_bot(
    resources: Resources,
    bot: int,
    owner: str = "",
    visitor: str = "",
    *,
    hosting_of: HostingOf = always_sandboxed,
) -> None:
    """Check a bot in full. Twice: asked twice. Late: what came of it is not written.

    `owner` and `visitor` are those who may have the next one checked afterwards.
    """
    try:
        check_now(resources, bot, hosting_of)
    finally:
        asking.release(resources.rate_counts, owner, visitor)


def check_now(resources: Resources, bot: int, hosting_of: HostingOf) -> None:
    """Check a bot in full, and write what came of it; of a program each version that waits."""
    while True:
        with resources.database.reading() as session:
            target = bot_health.check_target(session, bot, hosting_of)
        if target is None:
            return
        logs.note(bot_id=target.bot_id)
        if target.seat is not None:
            steps = steps_of_program(resources, target, target.seat)
        else:
            steps = asyncio.run(steps_of(resources, target))
        if not (note(resources, target, steps) and target.is_waiting):
            return


def steps_of_program(
    resources: Resources, target: CheckTarget, seat: ClaimedSeat
) -> Sequence[Step]:
    """Run an upload for the steps of `cw check`; where the process runs none, say so."""
    settings = resources.settings
    chosen, tournament, options = target.hosting
    isolation = isolation_of(settings, sandbox_of(settings, tournament))
    hosting = chosen if tournament else hosting_of_people(settings)
    with unpacked(resources.objects, target.game, [seat], hosting) as programs:
        bot = programs[seat.name]
        if bot.kind == "absent":
            return [{"step": "program", "ok": False, "problem": bot.target, "fix": ""}]
        candidate = Candidate(target.game, bot, {}, isolation, options)
        steps = [step.to_json() for step in check(candidate)]
        key = object_key(seat.bot_id, seat.spec.removeprefix(PROGRAM))
        return [*builds.warning_steps(resources.objects, key), *steps]


def sweep_bots(resources: Resources) -> None:
    """Ask all bots that are due for their health, and those that are new for everything.

    Twice, or by two at once: each bot is asked by one of them.
    """
    every = timedelta(seconds=resources.settings.health_every)
    with resources.database.writing() as session:
        due = bot_health.take_due(session, resources.clock, every)
    with resources.database.reading() as session:
        due = [target for target in due if may_be_asked(session, resources, target)]
    asyncio.run(ask_all(resources, due))


def may_be_asked(session: Session, resources: Resources, target: CheckTarget) -> bool:
    """Return whether a bot may be asked now: active ones always, as theirs is a bot for sure."""
    if target.status == "ACTIVE":
        return True
    requests = asking.ONE if target.is_known else asking.CHECK
    return asking.may_claim(session, resources.rate_counts, target.owner, target.endpoint, requests)


async def ask_all(resources: Resources, due: Sequence[CheckTarget]) -> None:
    """Ask bots, so many at the same time, few of each owner, and write what came of each."""
    places = asyncio.Semaphore(AT_ONCE)
    own_places = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(OWN_AT_ONCE))
    # A name server that is silent keeps a thread for longer than its bot is waited for.
    threads = ThreadPoolExecutor(2 * AT_ONCE)
    asyncio.get_running_loop().set_default_executor(threads)

    async def ask(target: CheckTarget) -> None:
        async with own_places[target.owner], places:
            try:
                steps = await steps_of(resources, target, health_alone=target.is_known)
            except Failure:
                logger.exception(
                    "the bot %s cannot be asked", target.bot_id, extra={"bot_id": target.bot_id}
                )
                return
        await asyncio.to_thread(note, resources, target, steps, health_alone=target.is_known)

    await asyncio.gather(*map(ask, due))


def note(
    resources: Resources, target: CheckTarget, steps: Sequence[Step], *, health_alone: bool = False
) -> bool:
    """Write what came; False where it came too late."""
    with resources.database.writing() as session:
        if health_alone:
            return bot_health.note_health(session, resources.clock, target, steps)
        return bot_health.note_check(session, resources.clock, target, steps)


async def steps_of(
    resources: Resources, target: CheckTarget, *, health_alone: bool = False
) -> Sequence[Step]:
    """Ask a bot for its health and, unless told otherwise, whether it speaks the protocol."""
    problem = address_problem(target.endpoint, resources.settings, is_house=target.is_house)
    if problem == INSECURE:
        return [{"step": "address", "ok": False, "problem": INSECURE, "fix": ""}]
    try:
        return await steps_by_game(resources, target, health_alone=health_alone)
    except UsageError as error:
        return [{"step": "address", "ok": False, "problem": str(error), "fix": ""}]


async def steps_by_game(
    resources: Resources, target: CheckTarget, *, health_alone: bool
) -> Sequence[Step]:
    """Ask a bot by the admission of its game; by the steps of its checks where it has none."""
    sealed = target.secret
    secret = resources.sealer.open(sealed, target.secret_row).decode() if sealed.data else ""
    settings = {**target.settings, "bot_id": target.bot_id}
    bot = BotSpec(target.name, "http", target.endpoint.rstrip("/"), settings)
    secrets = {bot.name: dict.fromkeys(SECRET_SETTINGS, secret)} if secret else {}
    isolation = isolation_of(resources.settings, house=[bot.name] if target.is_house else ())
    candidate = Candidate(target.game, bot, secrets, isolation)
    admission = load_admission(target.game)
    if admission is None:
        return [step.to_json() for step in await probe(candidate)]
    steps = Steps()
    async with alone(candidate) as (referee, player):
        if await admission.health(referee, player, steps) and not health_alone:
            await admission.protocol(referee, player, steps)
    return steps.entries
