"""Asks bots whether they are ready: one for its owner, or all before a daily game."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from cw.arena.bots import SECRET_SETTINGS, BotSpec
from cw.games.wire import Readiness
from cw.hub.jobs.checks import isolation_of
from cw.hub.resources import Resources
from cw.hub.services import entrants, grader_bots
from cw.hub.services.entrants import GAME, Admission, Entrant
from cw.hub.services.matches import Claim
from cw.hub.services.reports import report
from cw.matches.ready import ask_ready


def probe_bot(resources: Resources, bot: int) -> None:
    """Ask one bot; the job `probe_bot`.

    Twice: asked twice. Late: what is not the bot's any more is not written.
    """
    asked_at = resources.clock()
    with resources.database.reading() as session:
        entrant = grader_bots.asked(session, bot)
    if entrant is not None:
        (said,) = asyncio.run(answers(resources, [entrant]))
        write(resources, [(entrant, said)], asked_at)


def write(
    resources: Resources, said: Sequence[tuple[Entrant, Readiness]], asked_at: datetime
) -> None:
    """Write what bots have said, where they are still those that were asked."""
    with resources.database.writing() as session:
        for entrant, answer in said:
            grader_bots.note_probe(session, entrant, answer, asked_at)


async def answers(resources: Resources, asked: Sequence[Entrant]) -> list[Readiness]:
    """Return what bots say, all asked at once."""
    names = [str(number) for number in range(len(asked))]
    bots = [
        BotSpec(name, "http", one.endpoint, {**one.seat.settings, "username": one.seat.name})
        for name, one in zip(names, asked, strict=True)
    ]
    secrets = {
        name: dict.fromkeys(
            SECRET_SETTINGS, resources.sealer.open(one.seat.secret, one.seat.secret_row).decode()
        )
        for name, one in zip(names, asked, strict=True)
        if one.seat.secret is not None
    }
    return await ask_ready(GAME, bots, secrets, isolation_of(resources.settings.bots_may_be))


async def admit(resources: Resources, claim: Claim) -> Claim | None:
    """Ask all who may play a daily game, and write who does; return the claim with them.

    None if the game is not this attempt's any more.
    """
    asked_at = resources.clock()
    with resources.database.reading() as session:
        found = entrants.entrants(session, claim.game)
    asked = [one for one in found if claim.game == GAME and one.is_asked]
    said = list(zip(asked, await answers(resources, asked) if asked else [], strict=True))
    await asyncio.to_thread(write, resources, said, asked_at)
    failed = [(one, answer) for one, answer in said if answer.fault is not None]
    refused = [(one, refusal(one, answer)) for one, answer in failed]
    out = {one.bot for one, _ in failed}
    admission = Admission([one for one in found if one.bot not in out], refused)
    admission = entrants.seated(claim.game, claim.seed, admission)
    with resources.database.writing() as session:
        admitted = entrants.admit(session, claim, admission)
    return None if admitted is None else await asyncio.to_thread(entrants.playable, admitted)


def refusal(entrant: Entrant, said: Readiness) -> dict[str, object]:
    """Return the report of a bot that is not admitted."""
    fault = said.fault
    error = "" if fault is None else fault.detail
    more = {} if fault is None else {"expected": fault.expected, "actual": fault.actual}
    return report(entrant.user_id, 0, None, "initiate", "startup", error, text=said.failed, **more)
