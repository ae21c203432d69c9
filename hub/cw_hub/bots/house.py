"""The site's own bots: built-in strategies, so that there is always an opponent.

The operator may add web services to them.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import select

from cw.arena.transports.base_address import check_base
from cw.errors import Failure, UsageError, short
from cw.games.registry import game_entry, load_strategies
from cw_hub.accounts.service import HOUSE
from cw_hub.bots import service as bots_service
from cw_hub.bots.addresses import address_problem
from cw_hub.bots.pages import is_name
from cw_hub.bots.service import ASKED, NameTaken, NewBot, Registered, name_key
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Session, insert_missing
from cw_hub.store.models import Bot, User
from cw_hub.store.sealing import Sealed, Sealer

SHORTEST_SECRET: Final = 32
"""Minimum length of a secret, so that it cannot be guessed."""


def open_house(session: Session, game: str) -> int:
    """Create the site's account and its bots for a game; return the account's id. Idempotent.

    Raises Failure if a user has the account's name.
    """
    user_id = account(session)
    names = set(session.scalars(select(Bot.name_key).where(Bot.game == game)))
    for strategy in load_strategies(game):
        name = house_name(game, strategy)
        if name_key(name) not in names:
            bots_service.add_builtin(session, user_id, game, name, strategy)
    return user_id


def account(session: Session) -> int:
    """Return the id of the site's account, creating it if missing.

    A concurrent caller waits until the first one's transaction ends.
    """
    wanted = select(User).where(User.username_key == HOUSE).with_for_update()
    user = session.scalars(wanted).one_or_none()
    if user is None:
        new = {"username": HOUSE, "username_key": HOUSE, "created_at": session.now()}
        insert_missing(session, User, [new])
        user = session.scalars(wanted).one()
    if user.deleted_at or user.email is not None or user.password_hash is not None:
        raise Failure(f"a user has the name {HOUSE}, which is reserved for the site's own account")
    return user.id


def house_name(game: str, strategy: str) -> str:
    """Return the name of the house bot for a built-in strategy."""
    return f"{strategy.capitalize()}Bot" if game == "code-battle" else strategy


def strategies_by_name(game: str) -> dict[str, str]:
    """Return a game's built-in strategies by the names of their house bots, and by their own."""
    strategies = list(load_strategies(game))
    own = {house_name(game, strategy): strategy for strategy in strategies}
    return own | {strategy: strategy for strategy in strategies}


def house_id(session: Session) -> int | None:
    """Return the id of the site's account, or None before it is created."""
    is_house = (User.username_key == HOUSE, User.deleted_at.is_(None))
    return session.scalar(select(User.id).where(*is_house))


def add_service(session: Session, hub: Resources, new: NewBot, secret: str = "") -> Registered:
    """Add a web service to the site's bots; it is checked like any other bot.

    Returns its secret if the bot is new and none was given, else "". A repeated call updates the
    URL and the secret. Raises UsageError for an invalid game, name, URL or secret, and NameTaken if
    the name belongs to another bot.
    """
    check_service(new, hub.settings, secret)
    user_id = account(session)
    is_named = (Bot.game == new.game, Bot.name_key == name_key(new.name))
    bot = session.scalars(select(Bot).where(*is_named)).one_or_none()
    if bot is None:
        bot = bots_service.new_bot(session, user_id, new, "url")
        drawn = bots_service.give_secret(bot, hub.sealer, secret)
        return Registered(bots_service.added(session, bot), bot.bot_id, "" if secret else drawn)
    if bot.user_id != user_id or bot.kind != "url" or bot.status not in ASKED:
        raise NameTaken(
            f"{new.name} is the name of another bot of {new.game}, or of one that was retired"
        )
    move(session, hub, bot, new.endpoint, secret)
    return Registered(bot.id, bot.bot_id, "")


def check_service(new: NewBot, settings: HubSettings, secret: str) -> None:
    """Raise UsageError if a bot is not valid as a web service of the site."""
    game_entry(new.game)
    if not is_name(new.name):
        raise UsageError(
            f"the name of a bot has 3 to 32 letters, digits and hyphens, not {short(new.name)}"
        )
    problem = address_problem(check_base(new.endpoint), settings, is_house=True)
    if problem:
        raise UsageError(f"{problem}: {new.endpoint}; see CW_HOUSE_NETWORK")
    if 0 < len(secret) < SHORTEST_SECRET:
        raise UsageError(f"a secret has at least {SHORTEST_SECRET} characters")


def move(session: Session, hub: Resources, bot: Bot, endpoint: str, secret: str) -> None:
    """Set a bot's URL and secret; if either differs, have the bot checked again."""
    is_secret_new = bool(secret) and secret != secret_of(bot, hub.sealer)
    if bot.endpoint == endpoint and not is_secret_new:
        return
    bots_service.keep_planned_address(session, bot)
    bot.endpoint = endpoint
    if is_secret_new:
        bots_service.give_secret(bot, hub.sealer, secret)
    bots_service.begin_again(session, bot)


def secret_of(bot: Bot, sealer: Sealer) -> str:
    """Return the secret that signs requests to a bot."""
    sealed = Sealed(bot.key_id or "", bot.secret or b"")
    return sealer.open(sealed, f"{bot.bot_id}.{bot.secret_version}").decode()
