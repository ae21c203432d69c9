"""Registration limits per IP address, higher with an invitation to a tournament.

All participants in one hall may share an IP address. Each tournament is counted separately, so that
no one else there can use up its share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from flask import Flask, abort, current_app, g, request, session

from cw_hub.accounts import personal_limits
from cw_hub.accounts.actor import actor
from cw_hub.accounts.github import NEXT
from cw_hub.accounts.pages import next_path
from cw_hub.pages.layout import Application
from cw_hub.pages.request import one_reading
from cw_hub.pages.request_counts import network
from cw_hub.store.database import Reading

LOCKED: Final = "An admin has locked this for your account."


def own_limits() -> Mapping[str, int]:
    """Return the limits set for the current user, by name; none for a visitor."""
    user = actor().user
    if user is None:
        return {}
    if "own_limits" not in g:
        with one_reading() as reading:
            g.own_limits = personal_limits.of_user(reading, user.user_id)
    limits: Mapping[str, int] = g.own_limits
    return limits


@dataclass(frozen=True, slots=True)
class OwnAmount:
    """A rate limit: the default, or the one an admin has set for the current user."""

    name: str
    """The name of a limit in personal_limits.LIMITS."""
    usual: int
    unit: str

    def __call__(self) -> str:
        """Return the rate limit that applies to the current user."""
        # Users with a limit of 0 are refused earlier, as such a limit cannot be counted.
        return f"{own_limits().get(self.name) or self.usual} per {self.unit}"

    def __str__(self) -> str:
        """Return the default rate limit."""
        return f"{self.usual} per {self.unit}"


def refuse_locked_activities(app: Flask, names: Mapping[str, str]) -> None:
    """Refuse requests that are locked for the current user; `names` maps endpoints to limits."""

    def refuse_locked() -> None:
        name = names.get(request.endpoint or "")
        if name and request.method == "POST" and own_limits().get(name) == 0:
            abort(403, LOCKED)

    app.before_request(refuse_locked)


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


def install_invitations(app: Application, inviting: Inviting) -> None:
    """Set the function that recognises invitation paths."""
    app.extensions["inviting"] = inviting
