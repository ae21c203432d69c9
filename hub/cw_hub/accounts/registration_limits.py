"""Limits registrations per IP address; more are allowed with an invitation to a tournament.

A hall full of people shares one address. Each tournament is counted separately, so that nobody
else there uses up their share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from flask import current_app, g, session

from cw_hub.accounts.github import NEXT
from cw_hub.accounts.pages import next_path
from cw_hub.pages.layout import Application
from cw_hub.pages.limiter import network
from cw_hub.pages.request import one_reading
from cw_hub.store.database import Reading

Inviting: TypeAlias = Callable[[Reading, str], int | None]
"""Returns the id of the competition that a path of the site invites to, or None."""

INVITED: Final = "1000 per hour"


@dataclass(frozen=True, slots=True)
class MoreIfInvited:
    """The registration limit of an address, higher for invited people."""

    usual: str

    def __call__(self) -> str:
        """Return the limit for this request."""
        return self.usual if invited_to() is None else INVITED


def registrant() -> str:
    """Return the address of the requester, with the tournament of the invitation if any."""
    tournament = invited_to()
    return network() if tournament is None else f"{network()} {tournament}"


def invited_to() -> int | None:
    """Return the id of the competition that the requester was invited to, or None."""
    if "invited_to" not in g:
        path = next_path() or session.get(NEXT, "")
        g.invited_to = competition_behind(path) if path else None
    return cast("int | None", g.invited_to)


def competition_behind(path: str) -> int | None:
    """Return the id of the competition that a path invites to, or None."""
    inviting: Inviting = current_app.extensions["inviting"]
    with one_reading() as reading:
        return inviting(reading, path)


def install(app: Application, inviting: Inviting) -> None:
    """Set the function that tells which paths of an app invite."""
    app.extensions["inviting"] = inviting
