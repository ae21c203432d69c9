"""API routes: typed functions, whose types validate and describe them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_type_hints

import msgspec
from flask import Response, abort, request
from msgspec import Struct

from cw import documents
from cw_hub.accounts.access.actor import actor
from cw_hub.accounts.access.tickets import Scope
from cw_hub.api.problems import Invalid

F = TypeVar("F", bound=Callable[..., Any])
S = TypeVar("S", bound=Struct)
Method: TypeAlias = Literal["GET", "POST", "PATCH"]

NO_TOKEN: Final = "This needs an access token: Authorization: Bearer cw_..."  # noqa: S105
BAD_TOKEN: Final = "The access token is unknown, revoked or expired."  # noqa: S105
NO_SCOPE: Final = "The access token lacks the scope {scope}."
NOT_JSON: Final = "The body must be JSON, with Content-Type: application/json."
MALFORMED: Final = "The body is not JSON: {why}."
FOR_ADMINS: Final = "Only admins may do this."


@dataclass(frozen=True, slots=True)
class Operation:
    """A route and its description."""

    name: str
    method: Method
    path: str
    summary: str
    scope: Scope | None
    """The required scope of a token; None: public."""
    needs_token: bool
    is_owners: bool
    """Whether it is restricted to the owner of the path's object (scope `read`) and admins."""
    code: int
    query: type[Struct] | None
    body: type[Struct] | None
    answer: Any
    view: Callable[..., Response]

    @property
    def names(self) -> list[str]:
        """The parameter names in its path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("<")]


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes of a module, in the order of their description."""

    operations: list[Operation] = field(default_factory=list)

    def add(  # noqa: PLR0913 - as many things are said of a route
        self,
        method: Method,
        path: str,
        *,
        scope: Scope | None = None,
        needs_token: bool = False,
        is_owners: bool = False,
        code: int = 200,
    ) -> Callable[[F], F]:
        """Make a function a route.

        Its arguments `query` and `body` and its result are structs, whose types specify requests
        and responses. Its other arguments are the names in the path.
        """

        def added(view: F) -> F:
            hints = get_type_hints(view, include_extras=True)
            query, body = hints.get("query"), hints.get("body")
            needed = needs_token or is_owners or scope is not None

            @wraps(view)
            def answer(**names: Any) -> Response:
                permit(scope, needs_token=needed, is_owners=is_owners)
                if query is not None:
                    names["query"] = read_query(query)
                if body is not None:
                    names["body"] = read_body(body)
                return answer_with(view(**names), code)

            self.operations.append(
                Operation(
                    view.__name__,
                    method,
                    path,
                    (view.__doc__ or "").partition("\n")[0],
                    scope,
                    needed,
                    is_owners,
                    code,
                    query,
                    body,
                    hints["return"],
                    answer,
                )
            )
            return view

        return added


def permit(scope: Scope | None, *, needs_token: bool, is_owners: bool = False) -> None:
    """Reject a missing token where one is needed, an invalid token, or one without the scope.

    An invalid token is rejected everywhere, because its sender expects it to count.
    """
    who = actor()
    if who.user is None and "Authorization" in request.headers:
        abort(401, BAD_TOKEN)
    if who.user is None and needs_token:
        abort(401, NO_TOKEN)
    if scope is not None and not who.may(scope):
        abort(403, NO_SCOPE.format(scope=scope))
    if is_owners and not (who.may("read") or who.is_admin):
        abort(403, NO_SCOPE.format(scope="read"))
    if scope == "admin" and not who.is_admin:
        abort(403, FOR_ADMINS)


def read_query(kind: type[S]) -> S:
    """Return the parameters of a request; abort with 400 if they are unknown or invalid."""
    try:
        return documents.convert(request.args.to_dict(), kind, strict=False)
    except msgspec.ValidationError as error:
        abort(400, f"{error}.")


def read_body(kind: type[S]) -> S:
    """Return the body of a request; reject it if it is not JSON or has another form."""
    if request.mimetype != "application/json":
        abort(415, NOT_JSON)
    try:
        return documents.decode(request.get_data(), kind)
    except msgspec.ValidationError as error:
        words, _, at = str(error).partition(" - at `$.")
        raise Invalid({at.rstrip("`") or "body": words}) from None
    except msgspec.DecodeError as error:
        abort(400, MALFORMED.format(why=error))


def answer_with(value: Any, code: int) -> Response:
    """Return a value as JSON, or 304 for an unchanged GET."""
    answer = Response(msgspec.json.encode(value), code, mimetype="application/json")
    if request.method not in ("GET", "HEAD"):
        answer.headers["Cache-Control"] = "no-store"
        return answer
    answer.add_etag()
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.headers["Vary"] = "Authorization"
    answer.make_conditional(request)
    return answer
