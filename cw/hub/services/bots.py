"""The bots of people: registered, checked, sent into practice matches, retired."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import and_, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.errors import CapacityError, UsageError
from cw.hub.clock import Clock
from cw.hub.services import audit, competitions, matches
from cw.hub.services.matches import Plan, Seat
from cw.hub.store.sealing import Sealer
from cw.hub.store.tables import (
    Bot,
    BotKind,
    BotStatus,
    Competition,
    Match,
    MatchParticipant,
    Rating,
    User,
)

CHECK: Final = "check_bot"
"""The job that checks a bot: told the id of its row."""

MOST: Final = 10
"""Bots of one user that are not retired."""

ROTATED: Final = "The secret was rotated meanwhile. Look at the bot again."

FIRST_GAME: Final = "code-battle"
"""Whose bots are meant where an address names no game."""

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
    """A new bot, and its secret: nobody is told that again."""

    id: int
    bot_id: str
    secret: str


@dataclass(frozen=True, slots=True)
class OwnBot:
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
    """The steps of the last check: `step`, `ok`, and where not `problem` and `fix`."""
    created_at: datetime
    secret_version: int
    check_due_at: datetime | None
    owner: str = ""
    """The username."""
    last_match: str | None = None
    last_match_at: datetime | None = None
    rating: float | None = None
    """The shown rating; None for one that has played no rated match."""


def name_key(name: str) -> str:
    """Return the form in which two names are one."""
    return name.casefold()


def register(
    session: Session, clock: Clock, sealer: Sealer, user_id: int, new: NewBot
) -> Registered:
    """Make a bot, PENDING until it is checked.

    Twice, or by two at once: the unique key decides, and the others are told NameTaken. Raises
    TooManyBots where the user has ten.
    """
    mine = select(func.count()).where(Bot.user_id == user_id, Bot.status != "RETIRED")
    if session.scalars(mine).one() >= MOST:
        raise TooManyBots(f"You have {MOST} bots. Please retire one first.")
    bot = new_bot(session, clock, user_id, new, "url")
    secret = give_secret(bot, sealer)
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
    enter(session, bot)
    return bot.id


def enter(session: Session, bot: Bot) -> None:
    """Let a new bot take part in the rated competitions of its game."""
    rated = (Competition.format == "rated", Competition.game == bot.game)
    for competition in session.scalars(select(Competition.id).where(*rated)):
        session.add(Rating(competition_id=competition, bot_id=bot.id))
        bot.check_due_at = bot.created_at if bot.kind == "url" else None


def enter_all(session: Session, clock: Clock, competition: int, game: str) -> None:
    """Let all bots of people that play a game take part in a competition. Twice: once."""
    there = select(Rating.bot_id).where(Rating.competition_id == competition)
    missing = select(Bot.id).where(Bot.game == game, Bot.user_id.is_not(None), Bot.id.not_in(there))
    for bot in session.scalars(missing).all():
        session.add(Rating(competition_id=competition, bot_id=bot))
    unasked = (Bot.game == game, Bot.kind == "url", Bot.user_id.is_not(None))
    session.execute(
        update(Bot).where(*unasked, Bot.check_due_at.is_(None)).values(check_due_at=clock())
    )


def own_bots(session: Session, user_id: int) -> list[OwnBot]:
    """Return the bots of a user that are not retired, by game and name."""
    last = (
        select(func.max(MatchParticipant.match_id))
        .where(MatchParticipant.bot_id == Bot.id)
        .correlate(Bot)
        .scalar_subquery()
    )
    rated = (
        select(Rating.mu - 2 * Rating.phi)
        .join(Competition, Competition.id == Rating.competition_id)
        .where(Rating.bot_id == Bot.id, Rating.last_match_at.is_not(None))
        .where(Competition.format == "rated", Competition.slug == Bot.game)
        .correlate(Bot)
        .scalar_subquery()
    )
    rows = session.execute(
        select(Bot, User.username, Match.match_id, Match.at, rated)
        .join(User, User.id == Bot.user_id)
        .outerjoin(Match, Match.id == last)
        .where(Bot.user_id == user_id, Bot.status != "RETIRED")
        .order_by(Bot.game, Bot.name_key)
    )
    return [own_bot(bot, owner or "", *more) for bot, owner, *more in rows]


def find(session: Session, game: str | None, name: str) -> OwnBot | None:
    """Return the bot of a user by its name in any case, None if there is none.

    Without a game: of Code Battle, or of the first by its name that has such a bot.
    """
    named = (
        select(Bot, User.username)
        .join(User, User.id == Bot.user_id)
        .where(Bot.name_key == name_key(name))
        .order_by(Bot.game != FIRST_GAME, Bot.game)
        .limit(1)
    )
    of_game = named if game is None else named.where(Bot.game == game)
    found = session.execute(of_game).one_or_none()
    return None if found is None else own_bot(found[0], found[1] or "")


def find_by_id(session: Session, bot_id: str) -> OwnBot | None:
    """Return the bot of a user by its name outside of the database, None if there is none."""
    named = select(Bot, User.username).join(User, User.id == Bot.user_id)
    found = session.execute(named.where(Bot.bot_id == bot_id)).one_or_none()
    return None if found is None else own_bot(found[0], found[1] or "")


def own_bot(
    bot: Bot,
    owner: str,
    last_match: str | None = None,
    at: datetime | None = None,
    rating: float | None = None,
) -> OwnBot:
    """Return a bot as its owner sees it."""
    return OwnBot(
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
        rating,
    )


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
        competitions.show_anew(session, Bot.id == bot.id)
    bot.status, bot.reason = status, reason[:LONGEST_REASON]


def edit(session: Session, clock: Clock, own: OwnBot, endpoint: str, description: str) -> bool:
    """Give a bot another address and description; return whether it must be checked again.

    Twice: the same. Raises WrongStatus for a bot that is suspended or retired.
    """
    bot = may_change(session, own.id)
    if bot.description != description:
        bot.description = description
        competitions.show_anew(session, Bot.id == bot.id)
    if bot.endpoint == endpoint:
        return False
    bot.endpoint = endpoint
    begin_again(session, clock, bot, own.owner)
    return True


def rotate(session: Session, clock: Clock, sealer: Sealer, own: OwnBot) -> str:
    """Give a bot a new secret, which nobody is told again, and return it.

    By two at once: one wins, and the other is told Busy. Raises WrongStatus as `edit` does.
    """
    bot = may_change(session, own.id)
    if bot.secret_version != own.secret_version:
        raise Busy(ROTATED)
    secret = give_secret(bot, sealer)
    audit.note(session, clock, own.owner, "rotate", f"bot:{bot.bot_id}")
    begin_again(session, clock, bot, own.owner)
    return secret


def give_secret(bot: Bot, sealer: Sealer) -> str:
    """Give a bot a new secret, and return it: nobody is told it again."""
    bot.secret_version += 1
    secret = secrets.token_hex(32)
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


def suspend(session: Session, clock: Clock, bot_id: str, reason: str, actor: str) -> None:
    """Take a bot out until it is restored. Twice: WrongStatus, as for one that is retired."""
    bot = by_bot_id(session, bot_id)
    if bot.status in ("SUSPENDED", "RETIRED"):
        raise wrong_status(bot)
    change_status(session, clock, bot, "SUSPENDED", reason, actor)


def restore(session: Session, clock: Clock, bot_id: str, actor: str) -> int:
    """Lift a suspension: the bot is checked again; return its id. Twice: WrongStatus."""
    bot = by_bot_id(session, bot_id)
    if bot.status != "SUSPENDED":
        raise wrong_status(bot)
    begin_again(session, clock, bot, actor)
    if bot.kind == "builtin":
        change_status(session, clock, bot, "ACTIVE", "", actor)
    return bot.id


def by_bot_id(session: Session, bot_id: str) -> Bot:
    """Return the row of a bot, locked; raise UsageError if there is none."""
    found = select(Bot).where(Bot.bot_id == bot_id).with_for_update(key_share=True)
    bot = session.scalars(found).one_or_none()
    if bot is None:
        raise UsageError(f"there is no bot {bot_id}")
    return bot


def retire(session: Session, clock: Clock, bot: int, actor: str) -> bool:
    """Take a bot out for good: its name and matches stay, address and secret go. Twice: False."""
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
    audit.note(session, clock, actor, "retire", f"bot:{name}")
    competitions.show_anew(session, Bot.id == bot)
    return True


def practise(session: Session, clock: Clock, bot: int, strategy: str) -> tuple[int, str]:
    """Plan a match of a bot against a built-in strategy; return its id, and its name for people.

    Twice, or by two at once: the second is told Busy until the match is over. Raises WrongStatus
    for a bot that is suspended or retired.
    """
    row = session.scalars(select(Bot).where(Bot.id == bot).with_for_update(key_share=True)).one()
    if row.status in ("SUSPENDED", "RETIRED"):
        raise wrong_status(row)
    if is_playing(session, bot):
        raise Busy("Your bot is playing. Try again when its match is over.")
    opponent = strategy if name_key(strategy) != row.name_key else f"{strategy}-builtin"
    seats = (Seat(row.name, bot_id=bot), Seat(opponent, spec=f"builtin:{strategy}"))
    key = f"{row.bot_id} {secrets.token_hex(8)}"
    match = matches.plan(session, clock, Plan("practice", key, row.game, seats))
    free = and_(Rating.bot_id == bot, Rating.playing_id.is_(None))
    session.execute(update(Rating).where(free).values(playing_id=match))
    return match, session.scalars(select(Match.match_id).where(Match.id == match)).one()


def is_playing(session: Session, bot: int) -> bool:
    """Return whether a practice or rated match of a bot is not over yet."""
    open_one = (
        select(Match.id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(
            MatchParticipant.bot_id == bot,
            Match.kind.in_(("practice", "rated")),
            Match.state.in_(matches.OPEN),
        )
        .limit(1)
    )
    return session.scalar(open_one) is not None
