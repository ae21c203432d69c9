"""Deletes an account: its row stays, emptied, and its bots retire."""

from __future__ import annotations

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from cw_hub.accounts.access import tickets
from cw_hub.accounts.people import Account, forget_places, touch
from cw_hub.clock import Clock
from cw_hub.store.revisions import show_anew
from cw_hub.store.tables import (
    Bot,
    BotActivation,
    BotVersion,
    Comparison,
    CompetitionHost,
    DraftFile,
    Friend,
    Guest,
    Mail,
    MatchParticipant,
    PersonalLimit,
    TeamMember,
    User,
    WorkshopTask,
)


def delete_account(session: Session, clock: Clock, account: Account) -> None:
    """Delete an account whose password has been checked; its row stays, emptied.

    Raises Refused if the account has been deleted, or its password has changed, since the check.
    """
    touch(session, account, deleted_at=clock())
    forget(session, account.user_id)


def forget(session: Session, user_id: int) -> None:
    """Erase the data of a user marked as deleted, and retire their bots. Idempotent.

    The username stays reserved for 90 days, so that nobody can impersonate the user.
    """
    address = select(User.email).where(User.id == user_id).scalar_subquery()
    session.execute(delete(Guest).where(Guest.email == address))
    session.execute(
        update(User)
        .where(User.id == user_id)
        .values(
            username=None,
            display_name=None,
            email=None,
            email_verified_at=None,
            password_hash=None,
            github_id=None,
            country=None,
            born=None,
            avatar=None,
        )
    )
    session.execute(update(Mail).where(Mail.user_id == user_id).values(email=None, words=None))
    tickets.revoke_all(session, user_id)
    forget_places(session, user_id)
    session.execute(
        delete(Friend).where(or_(Friend.user_id == user_id, Friend.friend_id == user_id))
    )
    for table in (TeamMember, CompetitionHost, DraftFile, PersonalLimit, WorkshopTask):
        session.execute(delete(table).where(table.user_id == user_id))
    _retire_bots(session, user_id)


def _retire_bots(session: Session, user_id: int) -> None:
    session.execute(
        update(Bot)
        .where(Bot.user_id == user_id)
        .values(status="RETIRED", endpoint="", secret=None, key_id=None, check_due_at=None)
    )
    its = select(Bot.id).where(Bot.user_id == user_id)
    for table in (BotVersion, BotActivation, Comparison):
        # The daily upkeep deletes the uploads, which no version refers to any more.
        session.execute(
            delete(table).where(table.bot_id.in_(its)).execution_options(synchronize_session=False)
        )
    # A bot of End of Codes has its user's name, including in past matches.
    named = select(Bot.id).where(Bot.user_id == user_id, Bot.game == "end-of-codes")
    name = f"deleted-{user_id}"
    session.execute(
        update(MatchParticipant)
        .where(MatchParticipant.bot_id.in_(named))
        .values(name=name)
        .execution_options(synchronize_session=False)
    )
    session.execute(
        update(Bot)
        .where(Bot.user_id == user_id, Bot.game == "end-of-codes")
        .values(name=name, name_key=name)
    )
    # Last, because lock order is first the bot, then its competition.
    show_anew(session, Bot.user_id == user_id)
