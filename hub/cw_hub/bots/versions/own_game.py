"""The single bot of each person in the game whose bots are named after their owners."""

from __future__ import annotations

from secrets import token_hex
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw_hub.bots.verbs import NewBot, added, begin_again, give_secret, may_change, new_bot
from cw_hub.clock import Clock
from cw_hub.store.sealing import Sealer
from cw_hub.store.tables import Bot

OF_ITS_OWN: Final = "end-of-codes"
"""The game; its bots are set up on a page of their own."""


def own_program(
    session: Session, clock: Clock, sealer: Sealer, user_id: int, username: str
) -> None:
    """Turn a person's bot into a program; create one, with a key, if there is none. Idempotent.

    Raises WrongStatus if the bot is suspended, and NameTaken for the second of two concurrent
    callers that create it.
    """
    mine = (Bot.user_id == user_id, Bot.game == OF_ITS_OWN, Bot.status != "RETIRED")
    bot = session.scalar(select(Bot.id).where(*mine).order_by(Bot.id).limit(1))
    if bot is None:
        row = new_bot(session, clock, user_id, NewBot(OF_ITS_OWN, username, ""), "program")
        give_secret(row, sealer, token_hex(16))
        added(session, row)
    else:
        run_program(session, clock, bot, username)


def run_program(session: Session, clock: Clock, bot: int, username: str) -> None:
    """Turn a bot into a program. Idempotent.

    Raises WrongStatus if it is suspended or retired.
    """
    row = may_change(session, bot)
    if row.kind != "program":
        row.kind, row.endpoint, row.checks, row.checked_at = "program", "", [], None
        begin_again(session, clock, row, username)
