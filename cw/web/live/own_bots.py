"""The bots that visitors bring to matches of a site, and the opponents offered to them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from cw.arena.bots import BotSpec
from cw.matches.spec import Isolation
from cw.web.live.live_match import Guest

OWN: Final = "own:"
"""Prefix of the choice of one's own bot in forms."""


class Link(NamedTuple):
    """The text and the address of a link."""

    words: str
    address: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A visitor's own bot, as offered by a form."""

    choice: str
    """As forms name it."""
    words: str
    problem: str = ""
    """Why it cannot play here now, as a sentence; "" if it can."""


@dataclass(frozen=True, slots=True)
class Opponents:
    """The opponents offered for play by hand, before the built-in strategies."""

    training: str
    """The built-in strategy that is the training bot; "" if there is none."""
    own: tuple[Offer, ...] = ()
    chosen: str = ""
    """The preselected choice; "" for the first."""
    invitation: Link | None = None
    """How to get to play with one's own bot; None if that is known or impossible."""
    tournament: str = ""
    """The tournament whose page this is, which offers nobody else; "" for none."""
    home: Link | None = None
    """The page of that tournament."""


@dataclass(frozen=True, slots=True)
class OwnBot:
    """A visitor's own bot, ready to be seated."""

    bot: BotSpec
    isolation: Isolation
    secrets: Mapping[str, str]
    guest: Guest


class OwnBots(Protocol):
    """Finds the bots of the current visitor; part of a site that has such visitors."""

    def opponents(self, game: str) -> Opponents:
        """Return the opponents offered to the current visitor."""

    def ready(self, game: str, choice: str, room: ExitStack) -> OwnBot:
        """Return the chosen bot; `room` takes the resources that it needs.

        Raises UsageError if it does not exist, or cannot play here now.
        """
