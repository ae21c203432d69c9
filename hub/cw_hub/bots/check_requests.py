"""Bot checks requested through pages and the API, within the current user's rate limits."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import Final

from flask import abort

from cw_hub.accounts.actor import must_confirm, player
from cw_hub.bots import checks, shares
from cw_hub.bots.checks import TooOften
from cw_hub.bots.service import CHECK, BotView, Checked
from cw_hub.operation.queue import CHECKS, PROGRAMS
from cw_hub.operation.resources import Resources
from cw_hub.pages import request_counts
from cw_hub.pages.request import resources

CONFIRM: Final = "Please confirm your email address before you register a bot."
UNCONFIRMED: Final = "Please confirm your email address before your bot is checked."


def visitor() -> str:
    """Return a hash of the client's IP address, which must not appear in jobs or their log."""
    return sha256(request_counts.network().encode()).hexdigest()[:16]


def claim_check(url: str, requests: int = checks.CHECK) -> None:
    """Count requests to a bot of the current user.

    Aborts with 403 if the email address is not confirmed, and with 429 if the limit is reached.
    """
    if must_confirm():
        abort(403, UNCONFIRMED)
    claim_for(checks.owner_named(player().user_id), url, requests)


def claim_for(owner: str, url: str, requests: int = checks.CHECK) -> None:
    """Count requests to an owner's bot; abort with 429 if the limit is reached."""
    hub = resources()
    try:
        with hub.database.reading() as reading:
            checks.claim(reading, hub.rate_counts, owner, url, requests)
    except TooOften as error:
        ends = hub.rate_counts.ends(error.limit, *error.key) or hub.clock() + timedelta(minutes=1)
        request_counts.refuse(error.limit, ends)


def claim_bot(bot: BotView, requests: int = checks.CHECK) -> None:
    """Count requests to a bot of the current user as `claim_check` does; programs need none.

    Aborts with 403 if the email address is not confirmed.
    """
    if bot.kind == "url":
        claim_check(bot.endpoint, requests)
    elif must_confirm():
        abort(403, UNCONFIRMED)


def send_check(bot: int, *, is_program: bool = False) -> bool:
    """Queue a check of the current user's bot; return False if it is left to the next sweep."""
    owner = checks.owner_named(player().user_id)
    return send_for(owner, bot, is_program=is_program)


def send_unasked(hub: Resources, bot: Checked) -> None:
    """Queue a check that the bot's owner did not request."""
    hub.queue.send(CHECK, bot.id, queue=queue_of(is_program=bot.is_program))


def queue_of(*, is_program: bool) -> str:
    """Return the queue for checks: programs are checked where program matches are played."""
    return PROGRAMS if is_program else CHECKS


def send_for(owner: str, bot: int, *, is_program: bool) -> bool:
    """Send a bot's check to the queue for its kind; return False if it is left to a sweep.

    A program's check waits for its turn instead, because sweeps do not check programs.
    """
    hub, queue = resources(), queue_of(is_program=is_program)
    is_sent = checks.send(hub, CHECK, bot, owner, visitor(), queue)
    if is_program and not is_sent:
        with hub.database.writing() as session:
            shares.wait(session, bot)
    return is_sent or is_program
