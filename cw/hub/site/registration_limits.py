"""How many people may register from one address: more of those who were invited to a tournament.

A hall full of people has one address. For each tournament they are counted apart, so that nobody
else there uses up what they need.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, cast

from flask import g, session

from cw.hub.accounts.github import NEXT
from cw.hub.accounts.pages import next_path
from cw.hub.competitions.tournament.people import invitations
from cw.hub.pages.limits import network
from cw.hub.pages.request import one_reading

LINK: Final = re.compile(r"/join/(\w{1,40})")
"""The path to which somebody is led who has followed an invitation."""

INVITED: Final = "1000 per hour"


@dataclass(frozen=True, slots=True)
class MoreIfInvited:
    """What an address may ask, and those there who were invited."""

    usual: str

    def __call__(self) -> str:
        """Return how often this request may be made."""
        return self.usual if invited_to() is None else INVITED


def registrant() -> str:
    """Return the address that asks, and the tournament to which somebody there was invited."""
    tournament = invited_to()
    return network() if tournament is None else f"{network()} {tournament}"


def invited_to() -> int | None:
    """Return the id of the tournament that the one who registers was invited to; None for none."""
    if "invited_to" not in g:
        match = LINK.fullmatch(next_path() or session.get(NEXT, ""))
        g.invited_to = tournament_of(match[1]) if match else None
    return cast("int | None", g.invited_to)


def tournament_of(code: str) -> int | None:
    """Return the id of the tournament to which a code invites, unless it is over."""
    with one_reading() as reading:
        return invitations.tournament_of(reading, code)
