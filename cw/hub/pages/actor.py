"""Who asks: what a request may do, found out once, and only when somebody wants to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Final, ParamSpec, cast
from urllib.parse import urlencode

from flask import current_app, g, redirect, request, session, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from cw.hub.resources import Resources
from cw.hub.services import tickets
from cw.hub.services.tickets import Holder

P = ParamSpec("P")

TICKET: Final = "ticket"
"""The key of the session's ticket in the cookie."""


@dataclass(frozen=True, slots=True)
class Actor:
    """What a request may do; permissions see nothing else."""

    user: Holder | None = None

    @property
    def is_admin(self) -> bool:
        """Whether a user with that role asks."""
        return self.user is not None and self.user.is_admin

    def is_user(self, user_id: int) -> bool:
        """Return whether this user asks."""
        return self.user is not None and self.user.user_id == user_id


VISITOR: Final = Actor()


def resources() -> Resources:
    """Return what the process holds."""
    return cast(Resources, current_app.extensions["hub"])


def actor() -> Actor:
    """Return who asks; at most one statement a request, none without a cookie."""
    if "actor" not in g:
        g.actor = _find()
    return cast(Actor, g.actor)


def _find() -> Actor:
    ticket = session.get(TICKET)
    if not isinstance(ticket, str):
        return VISITOR
    held = resources()
    with held.database.reading() as reading:
        holder = tickets.find_holder(reading, held.clock, ticket)
    if holder is None:
        return VISITOR
    if tickets.is_stale(holder, held.clock()):
        _extend(holder)
    return Actor(holder)


def _extend(holder: Holder) -> None:
    """Let a session live on, and the cookie of a remembered one too."""
    held = resources()
    with held.database.writing() as writing:
        tickets.extend(writing, held.clock, holder)
    session.modified = True


def enter(ticket: str, *, remembered: bool) -> None:
    """Log this browser in by a ticket; nothing of the visit before is kept."""
    session.clear()
    g.pop("csrf_token", None)
    g.pop("actor", None)
    session[TICKET] = ticket
    session.permanent = remembered


def leave() -> str | None:
    """Let this browser forget who it was; return the ticket that it held."""
    ticket = session.get(TICKET)
    session.clear()
    g.pop("csrf_token", None)
    g.actor = VISITOR
    return ticket if isinstance(ticket, str) else None


def player() -> Holder:
    """Return the user who asks, in a view for players."""
    user = actor().user
    if user is None:
        raise RuntimeError("this view is for players only")
    return user


def players_only(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Send visitors of a page to log in first."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        return view(*args, **kwargs) if actor().user else to_login()

    return guarded


def to_login() -> Response:
    """Lead to the log-in page, and from there back to what was asked for."""
    address = url_for("account.login")
    if request.method in ("GET", "HEAD"):
        query = request.query_string.decode("ascii", "replace")
        path = f"{request.path}?{query}" if query else request.path
        address = f"{address}?{urlencode({'next': path}, safe='/')}"
    return redirect(address, 303)


def players_only_json(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Answer 401 to visitors of a view that scripts ask."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        if actor().user:
            return view(*args, **kwargs)
        return {"error": "Please log in first."}, 401

    return guarded
