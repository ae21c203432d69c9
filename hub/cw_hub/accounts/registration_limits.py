"""Registration limits per IP address, higher with an invitation to a tournament.

All participants in one hall may share an IP address. Each tournament is counted separately, so that
no one else there can use up its share.
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
"""A function that returns the id of the competition that a path invites to, or None."""

INVITED: Final = "1000 per hour"


@dataclass(frozen=True, slots=True)
class MoreIfInvited:
    """The registration limit per IP address, higher for invited users."""

    usual: str

    def __call__(self) -> str:
        """Return the limit for this request."""
        return self.usual if invited_to() is None else INVITED


def registrant() -> str:
    """Return the key that registrations count under: IP address and inviting tournament, if any."""
    tournament = invited_to()
    return network() if tournament is None else f"{network()} {tournament}"


def invited_to() -> int | None:
    """Return the id of the competition that the current user was invited to, or None."""
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
    """Set the function that recognises invitation paths."""
    app.extensions["inviting"] = inviting
