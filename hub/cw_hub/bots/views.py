"""Bots as their owners and the pages see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, bindparam, func, select
from sqlalchemy.orm import Session

from cw_hub.bots.seats import version_played
from cw_hub.pages.names import natural_order
from cw_hub.store.tables import Bot, BotKind, BotStatus, Match, MatchParticipant, User

FIRST_GAME: Final = "code-battle"
"""The game assumed if an address names none."""


@dataclass(frozen=True, slots=True)
class BotView:
    """A bot as its owner sees it."""

    id: int
    bot_id: str
    user_id: int
    game: str
    name: str
    kind: BotKind
    endpoint: str
    description: str
    status: BotStatus
    reason: str
    checked_at: datetime | None
    checks: Sequence[Mapping[str, Any]]
    """The steps of the last check: `step`, `ok`, and if not ok `problem` and `fix`."""
    created_at: datetime
    secret_version: int
    check_due_at: datetime | None
    owner: str = ""
    """The username."""
    last_match: str | None = None
    last_match_at: datetime | None = None
    version: int | None = None
    """The number of the version that plays; None if it is not a program, or has none yet."""


def bots_of_user(session: Session, user_id: int) -> list[BotView]:
    """Return the bots of a user that are not retired, by game and name."""
    last = (
        select(func.max(MatchParticipant.match_id))
        .where(MatchParticipant.bot_id == Bot.id)
        .correlate(Bot)
        .scalar_subquery()
    )
    rows = session.execute(
        select(Bot, User.username, Match.match_id, Match.at)
        .join(User, User.id == Bot.user_id)
        .outerjoin(Match, Match.id == last)
        .where(Bot.user_id == user_id, Bot.status != "RETIRED")
    )
    views = [view_of(bot, owner or "", match_id, at) for bot, owner, match_id, at in rows]
    return sorted(views, key=lambda bot: (bot.game, natural_order(bot.name)))


_BOTS, _USERS = Bot.__table__, User.__table__

OF_USERS: Final = select(_BOTS, _USERS.c.username).join(_USERS, _USERS.c.id == _BOTS.c.user_id)
"""The bots of users; built once, like the next statements, as many pages run them."""

NAMED: Final = (
    OF_USERS.where(_BOTS.c.name_key == bindparam("name_key"))
    .order_by(_BOTS.c.game != FIRST_GAME, _BOTS.c.game)
    .limit(1)
)
NAMED_OF_GAME: Final = NAMED.where(_BOTS.c.game == bindparam("game"))
WITH_ID: Final = OF_USERS.where(_BOTS.c.bot_id == bindparam("bot_id"))


def find(session: Session, game: str | None, name: str) -> BotView | None:
    """Return the bot of a user by its name, ignoring case, or None.

    Without a game: that of Code Battle, or else of the first game by name that has such a bot.
    """
    wanted = {"name_key": name_key(name)}
    if game is None:
        row = session.execute(NAMED, wanted).one_or_none()
    else:
        row = session.execute(NAMED_OF_GAME, {**wanted, "game": game}).one_or_none()
    return None if row is None else view_of(row, row.username or "")


def find_by_id(session: Session, bot_id: str) -> BotView | None:
    """Return the bot of a user by its public id, or None."""
    row = session.execute(WITH_ID, {"bot_id": bot_id}).one_or_none()
    return None if row is None else view_of(row, row.username or "")


def view_of(
    bot: Bot | Row[*tuple[Any, ...]],
    owner: str,
    last_match: str | None = None,
    at: datetime | None = None,
) -> BotView:
    """Return a bot as its owner sees it."""
    return BotView(
        bot.id,
        bot.bot_id,
        bot.user_id or 0,
        bot.game,
        bot.name,
        bot.kind,
        bot.endpoint,
        bot.description,
        bot.status,
        bot.reason,
        bot.checked_at,
        bot.checks,
        bot.created_at,
        bot.secret_version,
        bot.check_due_at,
        owner,
        last_match,
        at,
        version_played(bot),
    )


def name_key(name: str) -> str:
    """Return the form in which names are compared."""
    return name.casefold()
