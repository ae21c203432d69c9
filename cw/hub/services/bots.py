"""The bots of people: registered, checked, sent into practice matches, retired."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, and_, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.errors import CapacityError, UsageError
from cw.hub.clock import Clock
from cw.hub.services import audit, matches
from cw.hub.services.matches import Plan, Seat
from cw.hub.store.sealing import Sealed, Sealer
from cw.hub.store.tables import Bot, BotKind, BotStatus, Match, MatchParticipant

CHECK: Final = "check_bot"
"""The job that checks a bot: told the id of its row."""

MOST: Final = 10
"""Bots of one user that are not retired."""

LONGEST_REASON: Final = 500


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
    last_match: str | None = None
    last_match_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A bot as it was when a check began."""

    id: int
    game: str
    name: str
    endpoint: str
    settings: Mapping[str, str]
    secret: Sealed
    secret_row: str
    secret_version: int


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
    bot = new_bot(clock, user_id, new, "url")
    secret = secrets.token_hex(32)
    sealed = sealer.seal(secret.encode(), f"{bot.bot_id}.1")
    bot.secret, bot.key_id, bot.secret_version = sealed.data, sealed.key_id, 1
    return Registered(added(session, bot), secret)


def add_builtin(  # noqa: PLR0913, PLR0917 - as many things as there are to be said
    session: Session, clock: Clock, user_id: int, game: str, name: str, strategy: str
) -> int:
    """Make a bot that is a built-in strategy, and always ACTIVE; return its id.

    Twice, or by two at once: NameTaken, as for others.
    """
    bot = new_bot(clock, user_id, NewBot(game, name, strategy), "builtin")
    bot.status = "ACTIVE"
    return added(session, bot)


def new_bot(clock: Clock, user_id: int, new: NewBot, kind: BotKind) -> Bot:
    """Return the row of a bot, PENDING and without a secret."""
    return Bot(
        bot_id=f"b_{secrets.token_hex(4)}",
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
    """Add a row and return its id; raise NameTaken where the unique key says so."""
    try:
        with session.begin_nested():
            session.add(bot)
            session.flush()
    except IntegrityError:
        raise NameTaken("This bot name is already taken") from None
    return bot.id


def own_bots(session: Session, user_id: int) -> list[OwnBot]:
    """Return the bots of a user that are not retired, by game and name."""
    last = (
        select(
            MatchParticipant.bot_id,
            func.max(MatchParticipant.match_id).label("match"),
        )
        .group_by(MatchParticipant.bot_id)
        .subquery()
    )
    rows = session.execute(
        select(Bot, Match.match_id, Match.at)
        .outerjoin(last, last.c.bot_id == Bot.id)
        .outerjoin(Match, Match.id == last.c.match)
        .where(Bot.user_id == user_id, Bot.status != "RETIRED")
        .order_by(Bot.game, Bot.name_key)
    )
    return [own_bot(bot, match, at) for bot, match, at in rows]


def find(session: Session, game: str | None, name: str) -> OwnBot | None:
    """Return the bot of a user by its name in any case, None if there is none.

    Without a game: of the first by its name that has such a bot.
    """
    named = select(Bot).where(Bot.name_key == name_key(name), Bot.user_id.is_not(None))
    bot = session.scalars(of_game(named, game).order_by(Bot.game).limit(1)).one_or_none()
    return None if bot is None else own_bot(bot)


def of_game(query: Select[Bot], game: str | None) -> Select[Bot]:
    """Return a query for the bots of one game, or of all."""
    return query if game is None else query.where(Bot.game == game)


def own_bot(bot: Bot, last_match: str | None = None, at: datetime | None = None) -> OwnBot:
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
        last_match,
        at,
    )


def asked(session: Session, bot: int) -> Asked | None:
    """Return what a check asks, None for a bot that is asked nothing."""
    row = session.get(Bot, bot)
    if row is None or row.kind != "url" or row.status in ("SUSPENDED", "RETIRED"):
        return None
    if row.secret is None:
        return None
    return Asked(
        row.id,
        row.game,
        row.name,
        row.endpoint,
        row.settings,
        Sealed(row.key_id or "", row.secret),
        f"{row.bot_id}.{row.secret_version}",
        row.secret_version,
    )


def note_check(
    session: Session, clock: Clock, of: Asked, steps: Sequence[Mapping[str, Any]]
) -> bool:
    """Write what a check has found: ACTIVE if all steps were fine, else INACTIVE, and why.

    Late, when the bot has another address or secret, or is gone: False, and nothing changes.
    """
    failed = next((step for step in steps if not step["ok"]), None)
    same = and_(
        Bot.id == of.id,
        Bot.endpoint == of.endpoint,
        Bot.secret_version == of.secret_version,
        Bot.status.in_(("PENDING", "ACTIVE", "INACTIVE")),
    )
    now = clock()
    found: dict[str, Any] = {
        "status": "INACTIVE" if failed else "ACTIVE",
        "reason": f"{failed['step']}: {failed['problem']}"[:LONGEST_REASON] if failed else "",
        "checks": list(steps),
        "checked_at": now,
        "protocol_ok": failed is None,
    }
    if failed is None:
        found |= {"healthy_at": now, "failures": 0}
    else:
        found |= {"failures": Bot.failures + 1, "failures_total": Bot.failures_total + 1}
    change = update(Bot).where(same).values(found).returning(Bot.id)
    return session.execute(change).first() is not None


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
    return True


def practise(session: Session, clock: Clock, bot: int, strategy: str) -> tuple[int, str]:
    """Plan a match of a bot against a built-in strategy; return its id, and its name for people.

    Twice, or by two at once: the second is told Busy until the match is over. Raises WrongStatus
    for a bot that is suspended or retired.
    """
    row = session.scalars(select(Bot).where(Bot.id == bot).with_for_update()).one()
    if row.status in ("SUSPENDED", "RETIRED"):
        raise WrongStatus(f"The bot is {row.status}: it cannot do that.")
    if is_playing(session, bot):
        raise Busy("Your bot is playing. Try again when its match is over.")
    opponent = strategy if name_key(strategy) != row.name_key else f"{strategy}-builtin"
    seats = (Seat(row.name, bot_id=bot), Seat(opponent, spec=f"builtin:{strategy}"))
    key = f"{row.bot_id} {secrets.token_hex(8)}"
    match = matches.plan(session, clock, Plan("practice", key, row.game, seats))
    return match, session.scalars(select(Match.match_id).where(Match.id == match)).one()


def is_playing(session: Session, bot: int) -> bool:
    """Return whether a practice match of a bot is not over yet."""
    open_one = (
        select(Match.id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(
            MatchParticipant.bot_id == bot,
            Match.kind == "practice",
            Match.state.in_(matches.OPEN),
        )
        .limit(1)
    )
    return session.scalar(open_one) is not None
