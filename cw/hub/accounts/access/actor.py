"""Who makes a request, and what it may do: looked up once, and only on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import wraps
from itertools import islice
from typing import Final, Literal, ParamSpec, TypeAlias, TypeVar, cast
from urllib.parse import urlencode

from flask import current_app, flash, g, redirect, request, session, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from cw.hub.accounts.access import cards, tickets, tokens
from cw.hub.accounts.access.cards import Entered, HostHolder, TeamHolder
from cw.hub.accounts.access.roles import Role, find_role
from cw.hub.accounts.access.tickets import Holder, Scope
from cw.hub.clock import Clock
from cw.hub.operation.health import logs
from cw.hub.pages.request import one_reading, resources
from cw.hub.store.database import Reading

P = ParamSpec("P")
AnyHolder = TypeVar("AnyHolder")
CardSession: TypeAlias = Literal["team", "host"]
FindHolder: TypeAlias = Callable[[Reading, Clock, str, str], AnyHolder | None]
"""Finds by the slug of a tournament whom a ticket lets in."""

TICKET: Final = "ticket"
"""The key of the session's ticket in the cookie."""

SECOND: Final = timedelta(seconds=1)

LOGGED_OUT: Final = "You are logged out, so nothing was saved. Log in, then send it again."

MOST_TEAMS: Final = 10
"""Teams of one browser that are looked at."""

API: Final = "/api/"
"""How the addresses begin that programs ask."""


@dataclass(frozen=True, slots=True)
class Actor:
    """What a request may do; permissions see nothing else."""

    user: Holder | None = None

    @property
    def is_admin(self) -> bool:
        """Whether a user with that role asks, and may act so."""
        return self.user is not None and self.user.is_admin and self.may("admin")

    def may(self, scope: Scope) -> bool:
        """Return whether what was shown allows something: a session allows its user all."""
        return self.user is not None and (self.user.scopes is None or scope in self.user.scopes)

    def is_user(self, user_id: int) -> bool:
        """Return whether this user asks."""
        return self.user is not None and self.user.user_id == user_id

    def sees(self, user_id: int | None) -> bool:
        """Return whether what is shown of a user's things to owner and admins alone is shown."""
        is_own = user_id is not None and self.is_user(user_id) and self.may("read")
        return is_own or self.is_admin

    def team(self, slug: str) -> TeamHolder | None:
        """Return the team of a tournament for which one acts: by a card, or as a member."""
        return holder_of("team", slug, cards.find_team) or self.role(slug).team

    def host(self, slug: str) -> HostHolder | None:
        """Return the session of the host of a tournament, if this browser holds one."""
        return holder_of("host", slug, cards.find_host)

    def is_host(self, slug: str) -> bool:
        """Return whether a host of a tournament asks; admins count as one."""
        return self.is_admin or self.host(slug) is not None or self.role(slug).is_host

    def role(self, slug: str) -> Role:
        """Return what the account is in a tournament; one statement a request, none without it."""
        if self.user is None or request.path.startswith(API):
            return Role()
        roles = g.setdefault("roles", {})
        if slug not in roles:
            with one_reading() as reading:
                roles[slug] = find_role(reading, slug, self.user.user_id)
        return cast(Role, roles[slug])


VISITOR: Final = Actor()


def actor() -> Actor:
    """Return who asks; at most one statement a request, none without a cookie."""
    if "actor" not in g:
        g.actor = _find()
        logs.note(user_id=g.actor.user and g.actor.user.user_id)
    return cast(Actor, g.actor)


def name() -> str:
    """Return who asks, as a part of a key: the id of the user, "" for a visitor."""
    user = actor().user
    return str(user.user_id) if user else ""


def _find() -> Actor:
    if request.path.startswith(API):
        return _find_bearer()
    ticket = session.get(TICKET)
    if not isinstance(ticket, str):
        return VISITOR
    hub = resources()
    with one_reading() as reading:
        holder = tickets.find_holder(reading, hub.clock, ticket)
    if holder is None:
        return VISITOR
    if tickets.is_stale(holder, hub.clock()):
        _extend(holder)
    return Actor(holder)


def cookie_of(kind: CardSession, slug: str) -> str:
    """Return the name of the cookie of a team or a host: one for each tournament."""
    return f"{current_app.config['SESSION_COOKIE_NAME']}-{kind}-{slug}"


def holder_of(kind: CardSession, slug: str, find: FindHolder[AnyHolder]) -> AnyHolder | None:
    """Return whom a cookie lets into a tournament; one statement a request, none without it."""
    holders = g.setdefault("holders", {})
    name = cookie_of(kind, slug)
    if name not in holders:
        ticket, hub = request.cookies.get(name), resources()
        if request.path.startswith(API) or ticket is None:
            return None
        with one_reading() as reading:
            holders[name] = find(reading, hub.clock, slug, ticket)
    return cast("AnyHolder | None", holders[name])


def tournaments_of_browser() -> list[str]:
    """Return what may be the tournaments for whose teams this browser acts, by its cookies."""
    prefix = cookie_of("team", "")
    slugs = (name.removeprefix(prefix) for name in request.cookies if name.startswith(prefix))
    return list(islice(slugs, MOST_TEAMS))


def hold(answer: Response, slug: str, entered: Entered) -> Response:
    """Let this browser act for a team or a host from now on; the account stays as it is."""
    answer.set_cookie(
        cookie_of(entered.kind, slug),
        entered.ticket,
        max_age=(entered.expires_at - resources().clock()) // SECOND,
        secure=current_app.config["SESSION_COOKIE_SECURE"],
        httponly=True,
        samesite="Lax",
    )
    return answer


def let_go(answer: Response, kind: CardSession, slug: str) -> Response:
    """Let this browser forget for whom it has acted."""
    secure = current_app.config["SESSION_COOKIE_SECURE"]
    answer.delete_cookie(cookie_of(kind, slug), secure=secure, httponly=True, samesite="Lax")
    return answer


def _find_bearer() -> Actor:
    """Return who shows an access token: the API knows no cookie."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.startswith(tickets.TOKEN):
        return VISITOR
    hub = resources()
    with one_reading() as reading:
        holder = tickets.find_bearer(reading, hub.clock, token)
    if holder is None:
        return VISITOR
    if tokens.is_stale(holder, hub.clock()):
        with hub.database.writing() as writing:
            tokens.note_use(writing, hub.clock, holder)
    return Actor(holder)


def _extend(holder: Holder) -> None:
    """Let a session live on, and the cookie of a remembered one too."""
    hub = resources()
    with hub.database.writing() as writing:
        tickets.extend(writing, hub.clock, holder)
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
    else:
        flash(LOGGED_OUT, "bad")
    return redirect(address, 303)


def players_only_json(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Answer 401 to visitors of a view that scripts ask."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        if actor().user:
            return view(*args, **kwargs)
        return {"error": "Please log in first."}, 401

    return guarded
