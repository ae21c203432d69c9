"""What admins do to the rows of their lists: the forms of the actions, and their functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from cw.errors import UsageError
from cw_hub.accounts import administration, audit, mail, personal_limits
from cw_hub.accounts.actor import one_writing, player
from cw_hub.accounts.pages import send_soon
from cw_hub.accounts.service import HOUSE
from cw_hub.bots import check_requests, checks
from cw_hub.bots import service as bots_service
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.format import format_named
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.matches import results
from cw_hub.pages.request import resources
from cw_hub.site.admin.lists import Field, Row, why_no_check
from cw_hub.site.formats import site_formats
from cw_hub.store.database import Session
from cw_hub.store.models import Bot


class Changed(UsageError):
    """The object is no longer in the state that the action is for."""


class Refused(UsageError):
    """The action is refused; the message is for the admin."""

    def __init__(self, words: str, page: str = "") -> None:
        """Store the message, and the URL of the page that shows it; "": the list."""
        super().__init__(words)
        self.page = page


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A change of a row, with the form beside it."""

    address: str
    """The URL rule of the form, with the columns that identify the row."""
    label: str
    """The words of its button."""
    do: Callable[..., Any]
    """Performs it in a transaction: `do(session, *key, *texts of the fields)`.

    Raises Changed, Refused or WrongStatus; any other UsageError means that there is no such row.
    """
    done: str
    """What the next page says, a format string; {0} is what `do` returned."""
    after: Callable[[Any], object] = lambda _: None
    """Follows the transaction, given what `do` returned; raises Refused."""
    offered: Callable[[Row], Any] = lambda _: True
    """Returns whether a row has the form."""
    fields: Sequence[Field] = ()
    confirm: str = ""
    """What the box says that must be ticked; "": there is none."""
    is_dangerous: bool = False

    @property
    def verb(self) -> str:
        """The last part of its URL."""
        return self.address.rpartition("/")[2]


# Accounts

OF_ADMINS: Final = (
    "Only the operator can change accounts of admins and that of the site: cw hub user."
)

NAME: Final = Field("sure", "Type the name to confirm", 32)
"""The last field of each action on an account."""


def on_account(change: Callable[..., str | None]) -> Callable[..., str]:
    """Return an action on an account whose name must be typed.

    It returns what `change` returns, or else the name of the account.
    """

    def do(session: Session, username: str, *texts: Any) -> str:
        *values, typed = texts
        account = administration.find(session, username)
        if account.role == "admin" or account.username == HOUSE:
            raise Refused(OF_ADMINS)
        if typed.casefold() != account.username.casefold():
            raise Refused(f"Nothing has changed: to confirm, type {account.username}.")
        try:
            done = change(session, account.username, *values)
        except administration.NoAddress:
            words = f"{account.username} has no email address"
            raise Refused(f"Nothing has changed: {words}.") from None
        except UsageError as error:
            raise Refused(f"Nothing has changed: {error}.") from None
        return done or account.username

    return do


def set_limit(session: Session, username: str, name: str, most: str) -> str:
    """Set a limit of an account, "" resets it; return a sentence about it."""
    number = personal_limits.read_most(most)
    administration.set_limit(session, username, name, number)
    return (
        f"{username}: {personal_limits.LIMITS[name]}: {'as usual' if number is None else number}."
    )


# Bots


def checkable(session: Session, bot_id: str) -> Bot:
    """Return a bot, to be checked; raise Refused if it cannot be."""
    bot = bots_service.by_bot_id(session, bot_id)
    if refusal := why_no_check(bot):
        raise Refused(refusal)
    return bot


def check(bot: Bot) -> None:
    """Request a check of a bot, within the usual limits."""
    owner = checks.owner_named(player().user_id)
    if bot.kind == "url":
        check_requests.claim_for(owner, bot.endpoint)
    if not check_requests.send_for(owner, bot.id, is_program=bot.kind == "program"):
        raise Refused("Bots cannot be checked right now. Please try again soon.")
    with one_writing() as session:
        audit.record(session, "check", f"bot:{bot.bot_id}")


# Competitions


def set_paused(session: Session, *key: str, paused: bool) -> CompetitionFacts:
    """Pause or resume a competition, and return it, unless its format has a page for that."""
    facts = competitions_service.named(session, "/".join(key))
    format_ = format_named(site_formats(), facts.format)
    if format_ is None:
        raise UsageError(f"this site does not have the format {facts.format}")
    own_page = format_.host_page(facts)
    if own_page is not None:
        words = "is paused and resumed on this page, by its events"
        raise Refused(f"Nothing has changed: {facts.title} {words}.", own_page)
    if not competitions_service.set_paused(session, facts.id, paused=paused):
        raise Changed(f"{facts.title} is in another state")
    return facts


def is_led_here(row: Row, state: str) -> bool:
    """Return whether a competition is in a state, and its format has no page to leave it."""
    return row.state == state and row.format is not None and row.format.host_page(row) is None


# Matches and mails


def requeue(session: Session, match_id: str) -> None:
    """Give a failed match another five attempts; raise Changed if it cannot be played again."""
    if not results.requeue_failed(session, match_id):
        raise Changed(f"{match_id} is not a failed match")
    audit.record(session, "requeue", f"match:{match_id}")


def void(session: Session, match_id: str, reason: str) -> None:
    """Cancel a match, whose page shows the reason; raise Changed if it is not waiting."""
    if not results.void(session, match_id, reason):
        raise Changed(f"{match_id} is not a waiting match")
    detail = {"reason": reason}
    audit.record(session, "void", f"match:{match_id}", detail=detail)


def send_again(session: Session, mail_id: int) -> int:
    """Put a dead email back into the queue, and return its id; raise Changed if it is not dead."""
    if not mail.send_again(session, mail_id):
        raise Changed(f"{mail_id} is not a dead mail")
    audit.record(session, "send mail", f"mail:{mail_id}")
    return mail_id


ACTIONS: Final[Mapping[str, Sequence[Action]]] = {
    "people": [
        Action(
            address="/admin/people/<username>/unlock",
            label="Unlock",
            do=on_account(administration.unlock),
            done="{0} may log in again.",
            offered=lambda row: row.locked_at,
            fields=[NAME],
        ),
        Action(
            address="/admin/people/<username>/end-sessions",
            label="End sessions",
            do=on_account(administration.end_sessions),
            done="All sessions of {0} have ended.",
            offered=lambda row: row.sessions and not row.locked_at,
            fields=[NAME],
        ),
        Action(
            address="/admin/people/<username>/confirm-email",
            label="Confirm address",
            do=on_account(administration.confirm_email),
            done="The address of {0} was confirmed.",
            offered=lambda row: row.has_email and not row.is_confirmed and not row.locked_at,
            fields=[NAME],
        ),
        Action(
            address="/admin/people/<username>/lock",
            label="Lock",
            do=on_account(administration.lock),
            done="{0} is locked, and all their sessions have ended.",
            offered=lambda row: not row.locked_at,
            fields=[NAME],
        ),
        Action(
            address="/admin/people/<username>/limit",
            label="Set limit",
            do=on_account(set_limit),
            done="{0}",
            fields=[
                Field("limit", "Limit", choices=personal_limits.LIMITS),
                Field("most", "Maximum (0 locks it; empty: the usual limit)"),
                NAME,
            ],
        ),
    ],
    "bots": [
        Action(
            address="/admin/bots/<bot_id>/check",
            label="Check",
            do=checkable,
            done="{0.name} is being checked.",
            after=check,
            offered=lambda row: not why_no_check(row),
            confirm="Ask the bot now",
        ),
        Action(
            address="/bot/<bot_id>/restore",
            label="Restore",
            do=bots_service.restore,
            done="The bot is being checked, and plays again once it has passed.",
            after=lambda bot: check_requests.send_unasked(resources(), bot),
            offered=lambda row: row.status == "SUSPENDED",
            confirm="Let it play again",
        ),
        Action(
            address="/bot/<bot_id>/suspend",
            label="Suspend",
            do=bots_service.suspend,
            done="The bot was suspended. Its owner sees the reason.",
            offered=lambda row: row.status not in ("SUSPENDED", "RETIRED"),
            fields=[Field("reason", "Reason, for its owner", 200, is_required=True)],
            confirm="It plays no more",
            is_dangerous=True,
        ),
    ],
    "competitions": [
        Action(
            address="/admin/<format_name>/<slug>/pause",
            label="Pause",
            do=partial(set_paused, paused=True),
            done="{0.title} was paused.",
            offered=lambda row: is_led_here(row, "running"),
            confirm="Plan no further matches",
        ),
        Action(
            address="/admin/<format_name>/<slug>/resume",
            label="Resume",
            do=partial(set_paused, paused=False),
            done="{0.title} was resumed.",
            offered=lambda row: is_led_here(row, "paused"),
            confirm="Plan matches again",
        ),
    ],
    "matches": [
        Action(
            address="/admin/matches/<match_id>/requeue",
            label="Play again",
            do=requeue,
            done="The match will be played again.",
            offered=lambda row: row.state == "failed" and not row.is_settled,
            confirm="Five attempts more",
        ),
        Action(
            address="/admin/matches/<match_id>/void",
            label="Call off",
            do=void,
            done="The match was called off.",
            offered=lambda row: row.state in ("queued", "interrupted"),
            fields=[Field("reason", "Reason, shown to all", 40, is_required=True)],
            confirm="It is never played",
            is_dangerous=True,
        ),
    ],
    "mails": [
        Action(
            address="/admin/mails/<int:mail_id>/send",
            label="Send again",
            do=send_again,
            done="The mail is being sent.",
            after=send_soon,
            offered=lambda row: row.state == "dead",
            confirm=f"Try it {mail.ATTEMPTS} times more",
        ),
    ],
}
"""The actions on the rows of each list."""
