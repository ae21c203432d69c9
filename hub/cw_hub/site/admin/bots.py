"""Queries behind the admin list of bots: owners and status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, func, or_, select

from cw_hub.bots.health import WORDS, Condition, conditions
from cw_hub.site.admin.overview import Page, page_of
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, Team, User

FAILING: Final = "failing"
CHOICES: Final = (*WORDS.values(), FAILING)
"""Filters for bots: by status, or those that did not respond the last time."""


@dataclass(frozen=True, slots=True)
class BotChoice:
    """A filter for bots; "" matches all."""

    text: str = ""
    """Part of the name, the owner's or team's name, the URL or the status."""
    state: str = ""
    """One of CHOICES."""


@dataclass(frozen=True, slots=True)
class ListedBot:
    """A bot with its owner and status."""

    bot: Bot
    owner: str | None
    """The username; None for a team's bot or a deleted account."""
    team: str | None
    tournament: str | None
    """The slug of the team's competition."""
    condition: Condition

    @property
    def can_be_checked(self) -> bool:
        """Whether a check can be requested."""
        return why_no_check(self.bot) == ""


def find_bots(session: Session, choice: BotChoice, number: int) -> Page[ListedBot]:
    """Return a page of bots, the newest first, in three statements."""
    query = (
        select(Bot, User.username, Team.name, Competition.slug)
        .outerjoin(User, User.id == Bot.user_id)
        .outerjoin(Team, Team.id == Bot.team_id)
        .outerjoin(Competition, Competition.id == Team.competition_id)
        .order_by(Bot.id.desc())
    )
    if choice.text:
        query = query.where(has_text(choice.text.casefold()))
    if choice.state:
        query = query.where(is_in(choice.state))
    page = page_of(session, query, number, tuple)
    stands = conditions(session, [bot.id for bot, *_ in page.rows])
    rows = [
        ListedBot(bot, owner, team, tournament, stands[bot.id])
        for bot, owner, team, tournament in page.rows
    ]
    return Page(rows, page.number, page.has_more)


def find(session: Session, bot_id: str) -> Bot | None:
    """Return a bot by its public id, or None."""
    return session.scalars(select(Bot).where(Bot.bot_id == bot_id)).one_or_none()


def has_text(key: str) -> ColumnElement[bool]:
    """Return the SQL condition for bots with a text in one of the searched columns."""
    status = func.lower(Bot.status)
    columns = (Bot.name_key, Bot.bot_id, User.username_key, Team.name_key, Bot.endpoint, status)
    return or_(*(column.contains(key, autoescape=True) for column in columns))


def is_in(state: str) -> ColumnElement[bool]:
    """Return the SQL condition for bots in one of the states of CHOICES."""
    if state == FAILING:
        return Bot.status.in_(("ACTIVE", "INACTIVE")) & (Bot.failures > 0)
    return Bot.status == state.upper()


def why_no_check(bot: Bot) -> str:
    """Return why a bot cannot be checked; "" if it can."""
    if bot.kind == "builtin":
        return "It is a strategy of the site itself: there is nothing to check."
    if bot.status in ("SUSPENDED", "RETIRED"):
        return f"The bot is {bot.status}: it is not checked."
    if bot.kind == "url" and not bot.endpoint:
        return "The bot has no address yet."
    return ""
