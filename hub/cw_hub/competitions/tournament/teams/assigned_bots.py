"""Bots assigned to teams by a host: a web service, or a built-in strategy."""

from __future__ import annotations

from typing import Final

from cw.arena.transports.base_address import check_base
from cw.errors import UsageError
from cw.games.registry import load_strategy
from cw_hub.clock import Clock
from cw_hub.competitions.tournament.settings import defaults_of
from cw_hub.store.tables import Bot

BUILTIN: Final = "builtin:"
LONGEST_URL: Final = 500
NO_URL: Final = "Please enter your bot URL"
INVALID_URL: Final = "Please enter a valid HTTP URL"


def read_url(text: str) -> str:
    """Return the address of a bot; raise UsageError for anything else."""
    url = text.strip()
    if not url:
        raise UsageError(NO_URL)
    if len(url) > LONGEST_URL or "@" in url:
        raise UsageError(INVALID_URL)
    try:
        check_base(url)
    except UsageError:
        raise UsageError(INVALID_URL) from None
    return url


def check_bot(game: str, bot: str) -> None:
    """Raise UsageError unless a bot is "", an address, or `builtin:NAME`."""
    if not bot:
        return
    if bot.startswith(BUILTIN):
        load_strategy(game, bot.removeprefix(BUILTIN))
        return
    if "url" not in defaults_of(game).kinds:
        raise UsageError(f"bots of {game} are programs, which teams upload, or {BUILTIN}NAME")
    read_url(bot)


def assign_bot(clock: Clock, row: Bot, bot: str) -> None:
    """Assign a bot that passed `check_bot` to a row.

    Built-in strategies become ACTIVE at once; web services are checked by the next sweep.
    """
    is_builtin = bot.startswith(BUILTIN)
    row.kind = "builtin" if is_builtin else "url"
    row.endpoint = bot.removeprefix(BUILTIN) if is_builtin else read_url(bot)
    row.status = "ACTIVE" if is_builtin else "PENDING"
    row.reason, row.failures, row.protocol_ok = "", 0, False
    row.checks, row.checked_at = [], None
    row.check_due_at = None if is_builtin else clock()
