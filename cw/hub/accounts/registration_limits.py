"""How many people may register from one address; more if they were invited to a tournament.

A hall full of people has one address. For each tournament they are counted apart, so that nobody
else there uses up what they need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from flask import current_app, g, session

from cw.hub.accounts.github import NEXT
from cw.hub.accounts.pages import next_path
from cw.hub.pages.limiter import network
from cw.hub.pages.parts import Application
from cw.hub.pages.request import one_reading
from cw.hub.store.database import Reading

Inviting: TypeAlias = Callable[[Reading, str], int | None]
"""Returns the id of the competition to which a path of the site invites; None for other paths."""

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
    """Return the id of the competition that the one who registers was invited to; None for none."""
    if "invited_to" not in g:
        path = next_path() or session.get(NEXT, "")
        g.invited_to = competition_behind(path) if path else None
    return cast("int | None", g.invited_to)


def competition_behind(path: str) -> int | None:
    """Return the id of the competition to which a path invites."""
    inviting: Inviting = current_app.extensions["inviting"]
    with one_reading() as reading:
        return inviting(reading, path)


def install(app: Application, inviting: Inviting) -> None:
    """Let an app know which of its paths invite."""
    app.extensions["inviting"] = inviting
