"""Sends checks of versions again that were lost, for example with the worker that ran them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from limits import parse
from sqlalchemy import select
from sqlalchemy.orm import Session

from cw_hub.bots.verbs import ASKED, CHECK
from cw_hub.bots.versions import languages
from cw_hub.clock import Clock
from cw_hub.operation.queue import PROGRAMS
from cw_hub.operation.resources import Resources
from cw_hub.store.tables import Bot, BotVersion

PATIENCE: Final = timedelta(minutes=10)
"""How long a version waits for its check before that counts as lost."""

AGAIN: Final = parse("1 per 10 minute")
"""How often the check of a bot is sent again."""

AT_ONCE: Final = 100
"""Maximum number of bots per tick."""


def send_again(resources: Resources) -> None:
    """Send lost checks again, if there is a live worker that can run them.

    Each is sent at most once in ten minutes, even with concurrent callers.
    """
    with resources.database.reading() as session:
        bots = lost(session, resources.clock)
        is_of_use = bool(bots and languages.offered(session, resources.clock))
    for bot in bots if is_of_use else ():
        if resources.rate_counts.take(AGAIN, "lost-check", str(bot)):
            resources.queue.send(CHECK, bot, queue=PROGRAMS)


def lost(session: Session, clock: Clock) -> list[int]:
    """Return the ids of the bots with a version that has waited too long for its check."""
    waiting = (
        select(Bot.id)
        .join(BotVersion, BotVersion.bot_id == Bot.id)
        .where(BotVersion.state == "building", BotVersion.created_at < clock() - PATIENCE)
        .where(Bot.status.in_(ASKED), Bot.kind == "program")
    )
    return list(session.scalars(waiting.distinct().order_by(Bot.id).limit(AT_ONCE)))
