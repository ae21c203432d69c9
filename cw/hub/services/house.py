"""The bots of the site itself: built-in strategies, so that nobody lacks an opponent."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.errors import Failure
from cw.games.registry import load_strategies
from cw.hub.clock import Clock
from cw.hub.services import bots
from cw.hub.store.tables import Bot, User

HOUSE: Final = "house"
"""The account of the site."""


def open_house(session: Session, clock: Clock, game: str) -> int:
    """Make the account of the site and its bots of a game; return the id of the account.

    Twice: what is there stays. Raises Failure where a person has the name of the account.
    """
    user_id = account(session, clock)
    known = set(session.scalars(select(Bot.name_key).where(Bot.game == game)))
    for strategy in load_strategies(game):
        name = house_name(game, strategy)
        if bots.name_key(name) not in known:
            bots.add_builtin(session, clock, user_id, game, name, strategy)
    return user_id


def account(session: Session, clock: Clock) -> int:
    """Return the id of the account of the site, which is made if it is missing."""
    user = session.scalars(select(User).where(User.username_key == HOUSE)).one_or_none()
    if user is None:
        user = User(username=HOUSE, username_key=HOUSE, created_at=clock())
        session.add(user)
        session.flush()
    elif user.email is not None or user.password_hash is not None:
        raise Failure(f"a person has the name {HOUSE}, which is that of the site's own account")
    return user.id


def house_name(game: str, strategy: str) -> str:
    """Return the name of the house bot that plays by a built-in strategy."""
    return f"{strategy.capitalize()}Bot" if game == "code-battle" else strategy


def house_id(session: Session) -> int | None:
    """Return the id of the account of the site, None before it is made."""
    return session.scalar(select(User.id).where(User.username_key == HOUSE))
