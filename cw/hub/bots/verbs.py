"""The bots of people: registered, checked, sent into practice matches, retired."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import and_, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.errors import CapacityError, UsageError
from cw.hub.accounts import audit
from cw.hub.bots.seats import version_played
from cw.hub.bots.versions import verbs as versions
from cw.hub.bots.versions.verbs import Upload
from cw.hub.bots.views import BotView, name_key
from cw.hub.clock import Clock
from cw.hub.store.revisions import show_anew
from cw.hub.store.sealing import Sealer
from cw.hub.store.tables import (
    Bot,
    BotKind,
    BotStatus,
    Match,
    MatchParticipant,
    User,
)

CHECK: Final = "check_bot"
"""The job that checks a bot: told the id of its row."""

MOST: Final = 10
"""Bots of one user that are not retired."""

NO_PROGRAM: Final = "The bot is a web service: it has an address, and no versions."

NO_SECRET: Final = "The bot is a program, which has no secret."  # noqa: S105

ROTATED: Final = "The secret was rotated meanwhile. Load the page of the bot again."


LONGEST_REASON: Final = 500

ASKED: Final[tuple[BotStatus, ...]] = ("PENDING", "ACTIVE", "INACTIVE")
"""How bots stand that are asked."""


class NameTaken(UsageError):
    """Another bot of the game bears this name, in whatever case, or has borne it."""


class TooManyBots(CapacityError):
    """A user has as many bots as one may have."""


class WrongStatus(UsageError):
    """A bot cannot do that as it is."""


class Busy(CapacityError):
    """A bot plays already."""


@dataclass(frozen=True, slots=True)
class NewBot:
    """What a user says of a bot; the pages have checked it."""

    game: str
    name: str
    endpoint: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Registered:
    """A new bot, and its secret, "" for a program: nobody is told that again."""

    id: int
    bot_id: str
    secret: str


class Checked(NamedTuple):
    """A bot that is to be checked: the id of its row, and whether it is a program."""

    id: int
    is_program: bool


def register(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    sealer: Sealer,
    user_id: int,
    new: NewBot,
    *,
    is_program: bool = False,
) -> Registered:
    """Make a bot, PENDING until it is checked; a program has no secret, and no version yet.

    Twice, or by two at once: the unique key decides, and the others are told NameTaken. Raises
    TooManyBots where the user has ten, also for the later of two at once.
    """
    session.scalars(select(User.id).where(User.id == user_id).with_for_update(key_share=True)).one()
    mine = select(func.count()).where(Bot.user_id == user_id, Bot.status != "RETIRED")
    if session.scalars(mine).one() >= MOST:
        raise TooManyBots(f"You have {MOST} bots. Please retire one first.")
    bot = new_bot(session, clock, user_id, new, "program" if is_program else "url")
    secret = "" if is_program else give_secret(bot, sealer)
    return Registered(added(session, bot), bot.bot_id, secret)


def add_builtin(  # noqa: PLR0913, PLR0917 - as many things as there are to be said
    session: Session, clock: Clock, user_id: int, game: str, name: str, strategy: str
) -> int:
    """Make a bot that is a built-in strategy, and always ACTIVE; return its id.

    Twice, or by two at once: NameTaken, as for others.
    """
    bot = new_bot(session, clock, user_id, NewBot(game, name, strategy), "builtin")
    bot.status = "ACTIVE"
    return added(session, bot)


def free_bot_id(session: Session) -> str:
    """Draw a name for outside of the database that no bot has."""
    while True:
        drawn = f"b_{secrets.token_hex(4)}"
        if session.scalar(select(Bot.id).where(Bot.bot_id == drawn)) is None:
            return drawn


def new_bot(session: Session, clock: Clock, user_id: int, new: NewBot, kind: BotKind) -> Bot:
    """Return the row of a bot, PENDING and without a secret."""
    return Bot(
        bot_id=free_bot_id(session),
        game=new.game,
        user_id=user_id,
        name=new.name,
        name_key=name_key(new.name),
        kind=kind,
        endpoint=new.endpoint,
        description=new.description,
        secret_version=0,
        created_at=clock(),
    )


def added(session: Session, bot: Bot) -> int:
    """Add a row and return its id; raise NameTaken where the unique key of names says so."""
    try:
        with session.begin_nested():
            session.add(bot)
            session.flush()
    except IntegrityError:
        same = (Bot.game == bot.game, Bot.name_key == bot.name_key, Bot.user_id.is_not(None))
        if session.scalar(select(Bot.id).where(*same)) is None:
            raise
        raise NameTaken("This bot name is already taken") from None
    return bot.id


def change_status(  # noqa: PLR0913, PLR0917 - what is noted of a change
    session: Session,
    clock: Clock,
    bot: Bot,
    status: BotStatus,
    reason: str,
    actor: str = "site",
) -> None:
    """Give a bot another status, and note it."""
    if bot.status != status:
        detail = {"from": bot.status, "to": status, "reason": reason[:LONGEST_REASON]}
        audit.note(session, clock, actor, "status", f"bot:{bot.bot_id}", detail=detail)
        show_anew(session, Bot.id == bot.id)
    bot.status, bot.reason = status, reason[:LONGEST_REASON]


def edit(session: Session, clock: Clock, view: BotView, endpoint: str, description: str) -> bool:
    """Give a bot another address and description; return whether it must be checked again.

    Matches that are planned are played at the address that the bot had then. Twice: the same.
    Raises WrongStatus for a bot that is suspended or retired.
    """
    bot = may_change(session, view.id)
    if bot.description != description:
        bot.description = description
        show_anew(session, Bot.id == bot.id)
    if bot.endpoint == endpoint:
        return False
    keep_planned_address(session, bot)
    bot.endpoint = endpoint
    begin_again(session, clock, bot, view.owner)
    return True


def keep_planned_address(session: Session, bot: Bot) -> None:
    """Let the matches of a bot that are not over be played at the address that it has now."""
    not_over = select(Match.id).where(Match.finished_at.is_(None))
    seats = and_(
        MatchParticipant.bot_id == bot.id,
        MatchParticipant.match_id.in_(not_over),
        # Of several changes the first one counts: the match was planned before it.
        MatchParticipant.endpoint.is_(None),
    )
    session.execute(update(MatchParticipant).where(seats).values(endpoint=bot.endpoint))


def forget_planned_addresses(session: Session, bot: int) -> None:
    """Forget the addresses that matches of a bot were planned with."""
    seats = and_(MatchParticipant.bot_id == bot, MatchParticipant.endpoint.is_not(None))
    session.execute(update(MatchParticipant).where(seats).values(endpoint=None))


def rotate(session: Session, clock: Clock, sealer: Sealer, view: BotView) -> str:
    """Give a bot a new secret, which nobody is told again, and return it.

    By two at once: one wins, and the other is told Busy. Raises WrongStatus as `edit` does.
    """
    bot = may_change(session, view.id)
    if bot.kind != "url":
        raise WrongStatus(NO_SECRET)
    if bot.secret_version != view.secret_version:
        raise Busy(ROTATED)
    secret = give_secret(bot, sealer)
    audit.note(session, clock, view.owner, "rotate", f"bot:{bot.bot_id}")
    begin_again(session, clock, bot, view.owner)
    return secret


def give_secret(bot: Bot, sealer: Sealer, secret: str = "") -> str:
    """Give a bot a secret, drawn unless one is given, and return it: nobody is told it again."""
    bot.secret_version += 1
    secret = secret or secrets.token_hex(32)
    sealed = sealer.seal(secret.encode(), f"{bot.bot_id}.{bot.secret_version}")
    bot.secret, bot.key_id = sealed.data, sealed.key_id
    return secret


def may_change(session: Session, bot: int) -> Bot:
    """Return the row of a bot, locked; raise WrongStatus for one that is suspended or retired."""
    row = session.scalars(select(Bot).where(Bot.id == bot).with_for_update(key_share=True)).one()
    if row.status not in ASKED:
        raise wrong_status(row)
    return row


def wrong_status(bot: Bot) -> WrongStatus:
    """Say that a bot cannot do something as it is."""
    return WrongStatus(cannot(bot.status))


def cannot(status: BotStatus) -> str:
    """Return what is said of a bot that cannot do something as it is."""
    return f"The bot is {status}: it cannot do that."


def begin_again(session: Session, clock: Clock, bot: Bot, actor: str) -> None:
    """Let a bot be checked as if it were new."""
    bot.failures, bot.protocol_ok = 0, False
    if bot.check_due_at is not None:
        bot.check_due_at = clock()
    change_status(session, clock, bot, "PENDING", "", actor)


# Programs


def save_version(session: Session, clock: Clock, bot: int, upload: Upload) -> int:
    """Add a version of a bot of a person, which plays once it has passed its check.

    Returns its number. Raises WrongStatus for a bot that is no program, suspended or retired, and
    CapacityError where it has as many versions as one may have.
    """
    return versions.add(session, clock, changeable_program(session, bot), upload, "building")


def use_version(session: Session, clock: Clock, view: BotView, number: int) -> None:
    """Let an earlier version that has passed its check play, from the next match on.

    Raises UsageError for one that has not, and WrongStatus as `save_version` does.
    """
    bot = changeable_program(session, view.id)
    versions.ready(session, bot.id, number)
    versions.activate(session, clock, bot, number)
    bot.failures, bot.protocol_ok = 0, True
    note = {"version": number}
    audit.note(session, clock, view.owner, "version", f"bot:{bot.bot_id}", detail=note)
    change_status(session, clock, bot, "ACTIVE", "", view.owner)


def changeable_program(session: Session, bot: int) -> Bot:
    """Return the row of a program, locked; raise WrongStatus for what is none, or is out."""
    row = may_change(session, bot)
    if row.kind != "program":
        raise WrongStatus(NO_PROGRAM)
    return row


def suspend(session: Session, clock: Clock, bot_id: str, reason: str, actor: str) -> None:
    """Take a bot out until it is restored. Twice: WrongStatus, as for one that is retired."""
    bot = by_bot_id(session, bot_id)
    if bot.status in ("SUSPENDED", "RETIRED"):
        raise wrong_status(bot)
    change_status(session, clock, bot, "SUSPENDED", reason, actor)


def restore(session: Session, clock: Clock, bot_id: str, actor: str) -> Checked:
    """Lift a suspension; return the bot, which is checked again. Twice: WrongStatus."""
    bot = by_bot_id(session, bot_id)
    if bot.status != "SUSPENDED":
        raise wrong_status(bot)
    begin_again(session, clock, bot, actor)
    if bot.kind == "builtin" or version_played(bot) is not None:
        change_status(session, clock, bot, "ACTIVE", "", actor)
    return Checked(bot.id, bot.kind == "program")


def by_bot_id(session: Session, bot_id: str) -> Bot:
    """Return the row of a bot, locked; raise UsageError if there is none."""
    query = select(Bot).where(Bot.bot_id == bot_id).with_for_update(key_share=True)
    bot = session.scalars(query).one_or_none()
    if bot is None:
        raise UsageError(f"there is no bot {bot_id}")
    return bot


def retire(session: Session, clock: Clock, bot: int, actor: str) -> bool:
    """Take a bot out for good: its name and matches stay, address and secret go. Twice: False.

    It loses the matches that are planned: nobody answers in them. The versions of a program go.
    """
    gone = {
        "status": "RETIRED",
        "endpoint": "",
        "secret": None,
        "key_id": None,
        "check_due_at": None,
        "reason": "",
    }
    change = update(Bot).where(Bot.id == bot, Bot.status != "RETIRED").values(gone)
    name = session.scalar(change.returning(Bot.bot_id))
    if name is None:
        return False
    forget_planned_addresses(session, bot)
    versions.forget(session, [bot])
    audit.note(session, clock, actor, "retire", f"bot:{name}")
    show_anew(session, Bot.id == bot)
    return True
