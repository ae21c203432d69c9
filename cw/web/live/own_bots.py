"""The bots that visitors bring to matches of a site, and the opponents they are offered."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from cw.arena.bots import BotSpec
from cw.matches.spec import Isolation
from cw.web.live.live_match import Guest

OWN: Final = "own:"
"""How the choice of one's own bot begins in forms."""


class Link(NamedTuple):
    """Words that lead to a page."""

    words: str
    address: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A bot of one's own that a form offers."""

    choice: str
    """As forms name it."""
    words: str
    problem: str = ""
    """Why it cannot play here now, in a sentence; "" if it can."""


@dataclass(frozen=True, slots=True)
class Opponents:
    """Who is offered to play against by hand, before the built-in strategies."""

    training: str
    """The built-in strategy that is the training bot; "" if there is none."""
    own: tuple[Offer, ...] = ()
    chosen: str = ""
    """The choice that the form begins with; "" for the first."""
    invitation: Link | None = None
    """How to come to play with a bot of one's own; None if it is known, or cannot be done."""
    tournament: str = ""
    """The tournament to which the page belongs, so that nobody else is offered; "" for none."""
    home: Link | None = None
    """The page of that tournament."""


@dataclass(frozen=True, slots=True)
class OwnBot:
    """A bot of one's own, ready to be seated."""

    bot: BotSpec
    isolation: Isolation
    secrets: Mapping[str, str]
    guest: Guest


class OwnBots(Protocol):
    """Knows the bots of whoever asks; part of a site that has such visitors."""

    def opponents(self, game: str) -> Opponents:
        """Return who is offered to whoever asks."""

    def ready(self, game: str, choice: str, room: ExitStack) -> OwnBot:
        """Return the bot that was chosen; what it needs is put into the room.

        Raises UsageError for one that is not there, or cannot play here now.
        """
