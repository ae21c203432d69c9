"""Asks bots whether they are ready: one for its owner, or all before a daily game."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from cw.arena.bot_settings import SECRET_SETTINGS
from cw.arena.bots import BotSpec
from cw.games.checks import Readiness
from cw.hub.bots.addresses import isolation_of
from cw.hub.bots.checks import asking
from cw.hub.competitions.daily import bots as grader_bots
from cw.hub.competitions.daily import entrants
from cw.hub.competitions.daily.entrants import GAME, Admission, Entrant
from cw.hub.competitions.daily.reports import report
from cw.hub.matches.claims import Claim
from cw.hub.operation.resources import Resources
from cw.hub.players.messages import Readinesses, Ready

NOT_ASKED: Final = "The host of your bot was asked too often in the last hour"


def probe_bot(resources: Resources, bot: int, owner: str = "", visitor: str = "") -> None:
    """Ask one bot; the job `probe_bot`.

    Twice: asked twice. Late: what is not the bot's any more is not written. `owner` and `visitor`
    are those who may have the next one asked afterwards.
    """
    try:
        probe_now(resources, bot)
    finally:
        asking.release(resources.rate_counts, owner, visitor)


def probe_now(resources: Resources, bot: int) -> None:
    """Ask one bot, and write what it says."""
    asked_at = resources.clock()
    with resources.database.reading() as session:
        entrant = grader_bots.entrant_to_probe(session, bot)
    if entrant is not None:
        (answer,) = answers(resources, [entrant])
        write(resources, [(entrant, answer)], asked_at)


def write(
    resources: Resources, answered: Sequence[tuple[Entrant, Readiness]], asked_at: datetime
) -> None:
    """Write what bots have said, where they are still those that were asked."""
    with resources.database.writing() as session:
        for entrant, answer in answered:
            grader_bots.note_probe(session, entrant, answer, asked_at)


def answers(resources: Resources, entrants_of_game: Sequence[Entrant]) -> Sequence[Readiness]:
    """Return what bots say, all asked at once."""
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
    """Ask all who may play a daily game, and write who does; return the claim with them.

    None if the game is not this attempt's any more.
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
    """Count the requests to bots that are not active; return those whose hosts had too many."""
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
