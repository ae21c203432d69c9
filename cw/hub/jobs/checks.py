"""Checks a bot: asks it the steps of its game's protocol, and writes what came."""

from __future__ import annotations

import asyncio

from cw.arena.bots import SECRET_SETTINGS, BotSpec
from cw.hub.resources import Resources
from cw.hub.services import bots
from cw.hub.services.bots import Asked
from cw.matches.check import Finding, probe
from cw.matches.spec import Isolation


def check_bot(resources: Resources, bot: int) -> None:
    """Check a bot. Twice: asked twice. Late: what is not the bot's any more is not written."""
    with resources.database.reading() as session:
        asked = bots.asked(session, bot)
    if asked is None:
        return
    steps = [finding.to_json() for finding in findings(resources, asked)]
    with resources.database.writing() as session:
        bots.note_check(session, resources.clock, asked, steps)


def findings(resources: Resources, asked: Asked) -> list[Finding]:
    """Ask a bot for all steps of its protocol."""
    secret = resources.sealer.open(asked.secret, asked.secret_row).decode()
    bot = BotSpec(asked.name, "http", asked.endpoint.rstrip("/"), dict(asked.settings))
    own = {bot.name: dict.fromkeys(SECRET_SETTINGS, secret)}
    return asyncio.run(probe(asked.game, bot, own, isolation_of(resources.settings.bots_may_be)))


def isolation_of(bots_may_be: tuple[str, ...]) -> Isolation:
    """Return which addresses bots may have; programs run in the sandbox or not at all."""
    first, *networks = bots_may_be
    return Isolation("require", "any" if first == "any" else "public", tuple(networks))
