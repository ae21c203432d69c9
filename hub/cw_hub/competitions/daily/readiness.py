"""Readiness checks of bots: one for its owner, or all before a daily game."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from cw.arena.bot_settings import SECRET_SETTINGS
from cw.arena.bots import BotSpec
from cw.games.checks import Readiness
from cw_hub.bots.addresses import isolation_of
from cw_hub.bots.checks import asking
from cw_hub.competitions.daily import bots as grader_bots
from cw_hub.competitions.daily import entrants
from cw_hub.competitions.daily.entrants import GAME, Admission, Entrant
from cw_hub.competitions.daily.reports import report
from cw_hub.matches.claims import Claim
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import Readinesses, Ready

NOT_ASKED: Final = "The host of your bot was asked too often in the last hour"


def probe_bot(resources: Resources, bot: int, owner: str = "", visitor: str = "") -> None:
    """Probe one bot; the job `probe_bot`.

    Not idempotent: a repeated job probes again. A result is dropped if the bot has changed
    meanwhile. Afterwards `owner` and `visitor` may request their next probe.
    """
    try:
        probe_now(resources, bot)
    finally:
        asking.release(resources.rate_counts, owner, visitor)


def probe_now(resources: Resources, bot: int) -> None:
    """Probe one bot, and save the result."""
    asked_at = resources.clock()
    with resources.database.reading() as session:
        entrant = grader_bots.entrant_to_probe(session, bot)
    if entrant is not None:
        (answer,) = answers(resources, [entrant])
        write(resources, [(entrant, answer)], asked_at)


def write(
    resources: Resources, answered: Sequence[tuple[Entrant, Readiness]], asked_at: datetime
) -> None:
    """Save the results of bots that are unchanged since they were asked."""
    with resources.database.writing() as session:
        for entrant, answer in answered:
            grader_bots.note_probe(session, entrant, answer, asked_at)


def answers(resources: Resources, entrants_of_game: Sequence[Entrant]) -> Sequence[Readiness]:
    """Ask all bots at once, and return their answers."""
    if not entrants_of_game:
        return []
    names = [str(number) for number in range(len(entrants_of_game))]
    bots = [
        BotSpec(
            name, "http", entrant.endpoint, {**entrant.seat.settings, "username": entrant.seat.name}
        )
        for name, entrant in zip(names, entrants_of_game, strict=True)
    ]
    secrets = {
        name: dict.fromkeys(
            SECRET_SETTINGS,
            resources.sealer.open(entrant.seat.secret, entrant.seat.secret_row).decode(),
        )
        for name, entrant in zip(names, entrants_of_game, strict=True)
        if entrant.seat.secret is not None
    }
    task = Ready(GAME, tuple(bots), secrets, isolation_of(resources.settings))
    with resources.players.play(task) as play:
        return next(each.bots for each in play if isinstance(each, Readinesses))


async def admit(resources: Resources, claim: Claim) -> Claim | None:
    """Probe all bots eligible for a daily game, and write the participants; return the new claim.

    Returns None if the game no longer belongs to this attempt.
    """
    asked_at = resources.clock()
    with resources.database.reading() as session:
        candidates = entrants.entrants(session, claim.game)
    services = [entrant for entrant in candidates if claim.game == GAME and entrant.is_asked]
    unasked = await asyncio.to_thread(asked_too_often, resources, services)
    others = [entrant for entrant in services if entrant not in unasked]
    readiness = await asyncio.to_thread(answers, resources, others)
    answered = list(zip(others, readiness, strict=True))
    await asyncio.to_thread(write, resources, answered, asked_at)
    failed = [(entrant, answer) for entrant, answer in answered if answer.fault is not None]
    refused = [(entrant, refusal(entrant, answer)) for entrant, answer in failed]
    refused += [(entrant, not_asked(entrant.user_id)) for entrant in unasked]
    out = {entrant.bot for entrant, _ in refused}
    admission = Admission([entrant for entrant in candidates if entrant.bot not in out], refused)
    admission = entrants.seated(claim.game, claim.seed, admission)
    with resources.database.writing() as session:
        admitted = entrants.admit(session, claim, admission)
    return None if admitted is None else await asyncio.to_thread(entrants.playable, admitted)


def asked_too_often(resources: Resources, services: Sequence[Entrant]) -> list[Entrant]:
    """Count the requests to inactive bots; return those whose hosts exceed the limit."""
    with resources.database.reading() as session:
        return [
            entrant
            for entrant in services
            if not entrant.is_active
            and not asking.may_claim(
                session,
                resources.rate_counts,
                asking.owner_named(entrant.user_id),
                entrant.endpoint,
                asking.ONE,
            )
        ]


def not_asked(user_id: int) -> dict[str, object]:
    """Return the report of a bot that was not asked."""
    return report(user_id, 0, None, "initiate", "startup", "initiate_not_asked", text=NOT_ASKED)


def refusal(entrant: Entrant, answer: Readiness) -> dict[str, object]:
    """Return the report of a bot that is not admitted."""
    fault = answer.fault
    error = "" if fault is None else fault.detail
    more = {} if fault is None else {"expected": fault.expected, "actual": fault.actual}
    return report(
        entrant.user_id, 0, None, "initiate", "startup", error, text=answer.failed, **more
    )
