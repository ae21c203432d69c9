"""Operations on bots: finding, registering, editing, suspending and retiring them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from secrets import token_hex
from typing import Any, Final, NamedTuple

from sqlalchemy import Row, and_, bindparam, func, select, update
from sqlalchemy.exc import IntegrityError

from cw.errors import CapacityError, UsageError
from cw_hub.accounts import audit
from cw_hub.bots import versions
from cw_hub.bots.addresses import version_played
from cw_hub.bots.versions import Upload
from cw_hub.pages.forms import natural_order
from cw_hub.store.database import Reading, Session, Writing
from cw_hub.store.models import Bot, BotKind, BotStatus, Match, MatchParticipant, User
from cw_hub.store.revisions import show_anew
from cw_hub.store.sealing import Sealer

FIRST_GAME: Final = "code-battle"
"""The game assumed if a URL names none."""


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
    """The number of the active version; None if it is not a program, or has none yet."""


def bots_of_user(session: Session, user_id: int) -> list[BotView]:
    """Return a user's bots that are not retired, sorted by game and name."""
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
"""Selects the bots of users; built once, like the next statements, as many pages run them."""

NAMED: Final = (
    OF_USERS.where(_BOTS.c.name_key == bindparam("name_key"))
    .order_by(_BOTS.c.game != FIRST_GAME, _BOTS.c.game)
    .limit(1)
)
NAMED_OF_GAME: Final = NAMED.where(_BOTS.c.game == bindparam("game"))
WITH_ID: Final = OF_USERS.where(_BOTS.c.bot_id == bindparam("bot_id"))


def find(session: Session, game: str | None, name: str) -> BotView | None:
    """Return a user's bot by its name, ignoring case, or None.

    Without a game, Code Battle comes first, then the first game by name that has such a bot.
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
    """Return the normalized form in which names are compared."""
    return name.casefold()


CHECK: Final = "check_bot"
"""The name of the job that checks a bot; it gets the bot's row id."""

MOST: Final = 10
"""Maximum number of bots of one user, not counting retired ones."""

NO_PROGRAM: Final = "The bot is a web service: it has an address, and no versions."

NO_SECRET: Final = "The bot is a program, which has no secret."  # noqa: S105

ROTATED: Final = "The secret has been rotated in the meantime. Reload the page of the bot."


LONGEST_REASON: Final = 500

ASKED: Final[tuple[BotStatus, ...]] = ("PENDING", "ACTIVE", "INACTIVE")
"""The statuses of bots that receive requests."""


class NameTaken(UsageError):
    """Another bot of the game has, or had, this name, ignoring case."""


class TooManyBots(CapacityError):
    """A user already has the maximum number of bots."""


class WrongStatus(UsageError):
    """The bot's status does not allow this."""


class Busy(CapacityError):
    """A concurrent change of the bot came first."""


@dataclass(frozen=True, slots=True)
class NewBot:
    """A user's input for a bot, validated by the pages."""

    game: str
    name: str
    endpoint: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Registered:
    """A new bot, and its secret, which is shown only once; "" for a program."""

    id: int
    bot_id: str
    secret: str


class Checked(NamedTuple):
    """A bot to be checked: its row id, and whether it is a program."""

    id: int
    is_program: bool


def register(
    session: Session,
    sealer: Sealer,
    user_id: int,
    new: NewBot,
    *,
    is_program: bool = False,
) -> Registered:
    """Register a bot, PENDING until it is checked; a program has no secret, and no version yet.

    Of concurrent or repeated calls with the same name, exactly one succeeds; the others raise
    NameTaken. Raises TooManyBots if the user has ten, even with concurrent callers.
    """
    session.scalars(select(User.id).where(User.id == user_id).with_for_update(key_share=True)).one()
    mine = select(func.count()).where(Bot.user_id == user_id, Bot.status != "RETIRED")
    if session.scalars(mine).one() >= MOST:
        raise TooManyBots(f"You have {MOST} bots. Please retire one first.")
    bot = new_bot(session, user_id, new, "program" if is_program else "url")
    secret = "" if is_program else give_secret(bot, sealer)
    return Registered(added(session, bot), bot.bot_id, secret)


def add_builtin(session: Session, user_id: int, game: str, name: str, strategy: str) -> int:
    """Register a built-in strategy as a bot that is always ACTIVE; return its id.

    Raises NameTaken if the name exists. Of concurrent callers, exactly one succeeds.
    """
    bot = new_bot(session, user_id, NewBot(game, name, strategy), "builtin")
    bot.status = "ACTIVE"
    return added(session, bot)


def free_bot_id(session: Session) -> str:
    """Generate an unused public id for a bot."""
    while True:
        drawn = f"b_{secrets.token_hex(4)}"
        if session.scalar(select(Bot.id).where(Bot.bot_id == drawn)) is None:
            return drawn


def new_bot(session: Session, user_id: int, new: NewBot, kind: BotKind) -> Bot:
    """Return the row of a new bot, PENDING and without a secret."""
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
        created_at=session.now(),
    )


def added(session: Session, bot: Bot) -> int:
    """Add a row and return its id; raise NameTaken if the name violates the unique key."""
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


def change_status(
    session: Session,
    bot: Bot,
    status: BotStatus,
    reason: str,
) -> None:
    """Set the status of a bot, and record the change."""
    if bot.status != status:
        detail = {"from": bot.status, "to": status, "reason": reason[:LONGEST_REASON]}
        audit.record(session, "status", f"bot:{bot.bot_id}", detail=detail)
        show_anew(session, Bot.id == bot.id)
    bot.status, bot.reason = status, reason[:LONGEST_REASON]


def edit(session: Session, view: BotView, endpoint: str, description: str) -> bool:
    """Change a bot's URL and description; return whether it must be checked again.

    Matches that are already planned are played at the old URL. Idempotent. Raises WrongStatus if
    the bot is suspended or retired.
    """
    bot = may_change(session, view.id)
    if bot.description != description:
        bot.description = description
        show_anew(session, Bot.id == bot.id)
    if bot.endpoint == endpoint:
        return False
    keep_planned_address(session, bot)
    bot.endpoint = endpoint
    begin_again(session, bot)
    return True


def keep_planned_address(session: Session, bot: Bot) -> None:
    """Pin a bot's unfinished matches to its current URL."""
    not_over = select(Match.id).where(Match.finished_at.is_(None))
    seats = and_(
        MatchParticipant.bot_id == bot.id,
        MatchParticipant.match_id.in_(not_over),
        # Of several changes the first one counts, as the match was planned before it.
        MatchParticipant.endpoint.is_(None),
    )
    session.execute(update(MatchParticipant).where(seats).values(endpoint=bot.endpoint))


def forget_planned_addresses(session: Session, bot: int) -> None:
    """Clear the URLs that a bot's matches are pinned to."""
    seats = and_(MatchParticipant.bot_id == bot, MatchParticipant.endpoint.is_not(None))
    session.execute(update(MatchParticipant).where(seats).values(endpoint=None))


def rotate(session: Session, sealer: Sealer, view: BotView) -> str:
    """Set a new secret for a bot and return it, for the only time.

    Of concurrent callers, one succeeds; the others raise Busy. Raises WrongStatus as `edit` does.
    """
    bot = may_change(session, view.id)
    if bot.kind != "url":
        raise WrongStatus(NO_SECRET)
    if bot.secret_version != view.secret_version:
        raise Busy(ROTATED)
    secret = give_secret(bot, sealer)
    audit.record(session, "rotate", f"bot:{bot.bot_id}")
    begin_again(session, bot)
    return secret


def give_secret(bot: Bot, sealer: Sealer, secret: str = "") -> str:
    """Set a bot's secret, generated unless given, and return it, for the only time."""
    bot.secret_version += 1
    secret = secret or secrets.token_hex(32)
    sealed = sealer.seal(secret.encode(), f"{bot.bot_id}.{bot.secret_version}")
    bot.secret, bot.key_id = sealed.data, sealed.key_id
    return secret


def may_change(session: Session, bot: int) -> Bot:
    """Return the row of a bot, locked; raise WrongStatus if it is suspended or retired."""
    row = session.scalars(select(Bot).where(Bot.id == bot).with_for_update(key_share=True)).one()
    if row.status not in ASKED:
        raise wrong_status(row)
    return row


def wrong_status(bot: Bot) -> WrongStatus:
    """Return the error for a bot whose status does not allow something."""
    return WrongStatus(cannot(bot.status))


def cannot(status: BotStatus) -> str:
    """Return the message for a bot whose status does not allow something."""
    return f"The bot is {status}: it cannot do that."


def begin_again(session: Session, bot: Bot) -> None:
    """Reset a bot so that it is checked as if it were new."""
    bot.failures, bot.protocol_ok = 0, False
    if bot.check_due_at is not None:
        bot.check_due_at = session.now()
    change_status(session, bot, "PENDING", "")


# Programs


def save_version(session: Session, bot: int, upload: Upload) -> int:
    """Add a version of a user's bot, which becomes active once it has passed its check.

    Returns its number. Raises WrongStatus if the bot is not a program, or is suspended or retired,
    and CapacityError if it has the maximum number of versions.
    """
    return versions.add(session, changeable_program(session, bot), upload, "building")


def use_version(session: Session, view: BotView, number: int) -> None:
    """Activate an earlier version that has passed its check, from the next match on.

    Raises UsageError if it has not passed, and WrongStatus as `save_version` does.
    """
    bot = changeable_program(session, view.id)
    versions.ready(session, bot.id, number)
    versions.activate(session, bot, number)
    bot.failures, bot.protocol_ok = 0, True
    note = {"version": number}
    audit.record(session, "version", f"bot:{bot.bot_id}", detail=note)
    change_status(session, bot, "ACTIVE", "")


def changeable_program(session: Session, bot: int) -> Bot:
    """Return the row of a program, locked; raise WrongStatus if it cannot be changed."""
    row = may_change(session, bot)
    if row.kind != "program":
        raise WrongStatus(NO_PROGRAM)
    return row


def suspend(session: Session, bot_id: str, reason: str) -> None:
    """Suspend a bot until it is restored; raise WrongStatus if already suspended, or retired."""
    bot = by_bot_id(session, bot_id)
    if bot.status in ("SUSPENDED", "RETIRED"):
        raise wrong_status(bot)
    change_status(session, bot, "SUSPENDED", reason)


def restore(session: Session, bot_id: str) -> Checked:
    """Lift a suspension and return the bot to be checked; raise WrongStatus if not suspended."""
    bot = by_bot_id(session, bot_id)
    if bot.status != "SUSPENDED":
        raise wrong_status(bot)
    begin_again(session, bot)
    if bot.kind == "builtin" or version_played(bot) is not None:
        change_status(session, bot, "ACTIVE", "")
    return Checked(bot.id, bot.kind == "program")


def by_bot_id(session: Session, bot_id: str) -> Bot:
    """Return the row of a bot, locked; raise UsageError if it does not exist."""
    query = select(Bot).where(Bot.bot_id == bot_id).with_for_update(key_share=True)
    bot = session.scalars(query).one_or_none()
    if bot is None:
        raise UsageError(f"there is no bot {bot_id}")
    return bot


def retire(session: Session, bot: int) -> bool:
    """Retire a bot permanently; return False if it is already retired.

    Its name and matches are kept; its URL, secret and versions are deleted. It loses its planned
    matches, in which it no longer replies.
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
    audit.record(session, "retire", f"bot:{name}")
    show_anew(session, Bot.id == bot)
    return True


@dataclass(frozen=True, slots=True)
class Competing:
    """How users' bots compete on a site."""

    games: Callable[[Reading], Collection[str]]
    """Returns the games with a running competition that new bots can enter."""
    enter: Callable[[Writing, int], object]
    """Enters a bot, by its row id, in its game's competitions. Idempotent."""
    ratings: Callable[[Reading, int], Mapping[int, float]]
    """Returns the ratings of a user's bots by row id."""


OF_ITS_OWN: Final = "end-of-codes"
"""The game whose bots are set up on their own page."""


def own_program(session: Session, sealer: Sealer, user_id: int, username: str) -> None:
    """Turn a user's bot into a program; if there is none, create one with a key. Idempotent.

    Raises WrongStatus if the bot is suspended, and NameTaken for the second of two concurrent
    callers that create it.
    """
    mine = (Bot.user_id == user_id, Bot.game == OF_ITS_OWN, Bot.status != "RETIRED")
    bot = session.scalar(select(Bot.id).where(*mine).order_by(Bot.id).limit(1))
    if bot is None:
        row = new_bot(session, user_id, NewBot(OF_ITS_OWN, username, ""), "program")
        give_secret(row, sealer, token_hex(16))
        added(session, row)
    else:
        run_program(session, bot)


def run_program(session: Session, bot: int) -> None:
    """Turn a bot into a program. Idempotent.

    Raises WrongStatus if it is suspended or retired.
    """
    row = may_change(session, bot)
    if row.kind != "program":
        row.kind, row.endpoint, row.checks, row.checked_at = "program", "", [], None
        begin_again(session, row)
