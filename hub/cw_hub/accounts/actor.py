"""The current user of a request (`Actor`), their permissions, and the session cookies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import wraps
from itertools import islice
from typing import Final, Literal, ParamSpec, TypeAlias, TypeVar, cast
from urllib.parse import urlencode

from flask import current_app, flash, g, redirect, request, session, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from cw_hub.accounts import login_cards, tickets
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.login_cards import Entered, HostHolder, TeamHolder
from cw_hub.accounts.roles import Role, find_role
from cw_hub.accounts.tickets import Holder, Scope
from cw_hub.operation import logs
from cw_hub.pages.request import one_reading, resources
from cw_hub.store.database import SITE, Reading, Writing

P = ParamSpec("P")
AnyHolder = TypeVar("AnyHolder")
CardSession: TypeAlias = Literal["team", "host"]
FindHolder: TypeAlias = Callable[[Reading, str, str], AnyHolder | None]
"""A function that finds the holder of a ticket in the tournament with the given slug."""

TICKET: Final = "ticket"
"""The session key that stores the session ticket in the cookie."""

SECOND: Final = timedelta(seconds=1)

LOGGED_OUT: Final = "You are logged out, so nothing was saved. Log in, then submit it again."

MOST_TEAMS: Final = 10
"""Maximum number of teams looked up for one browser."""

API: Final = "/api/"
"""Path prefix of the API."""


@dataclass(frozen=True, slots=True)
class Actor:
    """The current user of a request; permissions depend on nothing else."""

    user: Holder | None = None

    @property
    def is_admin(self) -> bool:
        """Whether the current user is an admin, and the credentials allow acting as one."""
        return self.user is not None and self.user.is_admin and self.may("admin")

    def may(self, scope: Scope) -> bool:
        """Return whether the credentials include a scope; a session includes all of them."""
        return self.user is not None and (self.user.scopes is None or scope in self.user.scopes)

    def is_user(self, user_id: int) -> bool:
        """Return whether the current user is this user."""
        return self.user is not None and self.user.user_id == user_id

    def sees(self, user_id: int | None) -> bool:
        """Return whether the current user may see what only this user and admins may see."""
        is_own = user_id is not None and self.is_user(user_id) and self.may("read")
        return is_own or self.is_admin

    def team(self, slug: str) -> TeamHolder | None:
        """Return the current user's team in a tournament, by a card session or by membership."""
        return holder_of("team", slug, login_cards.find_team) or self.role(slug).team

    def host(self, slug: str) -> HostHolder | None:
        """Return the host session of this browser in a tournament, or None."""
        return holder_of("host", slug, login_cards.find_host)

    def is_host(self, slug: str) -> bool:
        """Return whether the current user is a host of a tournament; admins count as hosts."""
        return self.is_admin or self.host(slug) is not None or self.role(slug).is_host

    def role(self, slug: str) -> Role:
        """Return the account's role in a tournament; one query per request, none for visitors."""
        if self.user is None or request.path.startswith(API):
            return Role()
        roles = g.setdefault("roles", {})
        if slug not in roles:
            with one_reading() as reading:
                roles[slug] = find_role(reading, slug, self.user.user_id)
        return cast(Role, roles[slug])


VISITOR: Final = Actor()


@contextmanager
def one_writing() -> Iterator[Writing]:
    """Yield a session for one operation of the current user, in whose name it is audited."""
    user = actor().user
    with resources().database.writing(SITE if user is None else user.username) as session:
        yield session


def actor() -> Actor:
    """Return the current user; at most one query per request, none without a cookie."""
    if "actor" not in g:
        g.actor = _find()
        logs.add_fields(user_id=g.actor.user and g.actor.user.user_id)
    return cast(Actor, g.actor)


def name() -> str:
    """Return the current user's id as part of a cache key, or "" for a visitor."""
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
        holder = tickets.find_holder(reading, ticket)
    if holder is None:
        return VISITOR
    if tickets.is_stale(holder, hub.clock()):
        _extend(holder)
    return Actor(holder)


def cookie_of(kind: CardSession, slug: str) -> str:
    """Return the name of the cookie for a team or host session; each tournament has its own."""
    return f"{current_app.config['SESSION_COOKIE_NAME']}-{kind}-{slug}"


def holder_of(kind: CardSession, slug: str, find: FindHolder[AnyHolder]) -> AnyHolder | None:
    """Return the holder of a session cookie in a tournament; one query per request, or none."""
    holders = g.setdefault("holders", {})
    name = cookie_of(kind, slug)
    if name not in holders:
        ticket = request.cookies.get(name)
        if request.path.startswith(API) or ticket is None:
            return None
        with one_reading() as reading:
            holders[name] = find(reading, slug, ticket)
    return cast("AnyHolder | None", holders[name])


def tournaments_of_browser() -> list[str]:
    """Return the slugs of this browser's team cookies, without checking that they are valid."""
    prefix = cookie_of("team", "")
    slugs = (name.removeprefix(prefix) for name in request.cookies if name.startswith(prefix))
    return list(islice(slugs, MOST_TEAMS))


def hold(answer: Response, slug: str, entered: Entered) -> Response:
    """Set the cookie that lets this browser act for a team or host; the account stays logged in."""
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
    """Delete the cookie that lets this browser act for a team or host."""
    secure = current_app.config["SESSION_COOKIE_SECURE"]
    answer.delete_cookie(cookie_of(kind, slug), secure=secure, httponly=True, samesite="Lax")
    return answer


def _find_bearer() -> Actor:
    """Return the actor for the access token in the request header; the API ignores cookies."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.startswith(tickets.TOKEN):
        return VISITOR
    hub = resources()
    with one_reading() as reading:
        holder = tickets.find_bearer(reading, token)
    if holder is None:
        return VISITOR
    if tickets.is_token_stale(holder, hub.clock()):
        with hub.database.writing() as writing:
            tickets.note_use(writing, holder)
    return Actor(holder)


def _extend(holder: Holder) -> None:
    """Extend a session; if it is remembered, its cookie is renewed too."""
    hub = resources()
    with hub.database.writing() as writing:
        tickets.extend(writing, holder)
    session.modified = True


def enter(ticket: str, *, remembered: bool) -> None:
    """Log this browser in with a ticket; the previous session is cleared."""
    session.clear()
    g.pop("csrf_token", None)
    g.pop("actor", None)
    session[TICKET] = ticket
    session.permanent = remembered


def leave() -> str | None:
    """Clear this browser's session and return its ticket, or None if it has none."""
    ticket = session.get(TICKET)
    session.clear()
    g.pop("csrf_token", None)
    g.actor = VISITOR
    return ticket if isinstance(ticket, str) else None


def player() -> Holder:
    """Return the current user in a view restricted to players."""
    user = actor().user
    if user is None:
        raise RuntimeError("this view is for players only")
    return user


def must_confirm() -> bool:
    """Return whether the current player must confirm an email address first."""
    hub = resources()
    if hub.settings.is_local:
        return False
    with hub.database.reading() as reading:
        return not accounts_service.is_confirmed(reading, player().user_id)


def players_only(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Redirect visitors to the login page."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        return view(*args, **kwargs) if actor().user else to_login()

    return guarded


def to_login() -> Response:
    """Redirect to the login page, which redirects back to the requested page."""
    address = url_for("account.login")
    if request.method in ("GET", "HEAD"):
        query = request.query_string.decode("ascii", "replace")
        path = f"{request.path}?{query}" if query else request.path
        address = f"{address}?{urlencode({'next': path}, safe='/')}"
    else:
        flash(LOGGED_OUT, "bad")
    return redirect(address, 303)


def players_only_json(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Respond with 401 to visitors of a view that is requested by scripts."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        if actor().user:
            return view(*args, **kwargs)
        return {"error": "Please log in first."}, 401

    return guarded
