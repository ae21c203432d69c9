"""A run of a bot: one match, with what the bot was asked in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from cw.errors import UsageError
from cw.games.rules import Player
from cw.web.live.live_match import LiveMatch
from cw.workshop.exchanges import Exchanges
from cw.workshop.marks import SearchedParts
from cw.workshop.project import MINE


@dataclass(slots=True)
class Run:
    """A match of the bot, while it is played and afterwards."""

    match: LiveMatch
    exchanges: Exchanges
    protection: str = ""
    """How the machine is protected from the program; "" before it is started."""
    searched: SearchedParts = field(default_factory=SearchedParts)
    """Its output by turn, with the lines of code that it names."""


def player_of(match: LiveMatch) -> Player:
    """Return the bot's player in the game; raise UsageError before the match has begun."""
    if match.progress is None:
        raise UsageError("the match has not started")
    bots = match.progress.record.bots
    return next(player for player, bot in bots.items() if bot.name == MINE)
