"""Building blocks of API routes, for the hub and for formats that add routes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from typing import Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar, get_type_hints

import msgspec
from flask import Response, abort, request
from msgspec import Meta, Struct
from werkzeug.exceptions import UnprocessableEntity

from cw import documents
from cw_hub.accounts.actor import API, actor
from cw_hub.accounts.tickets import Scope
from cw_hub.matches.listings import MOST, Part

D = TypeVar("D", bound=Struct)
T = TypeVar("T")
U = TypeVar("U")


class List(Struct, Generic[T], frozen=True, kw_only=True):
    """A page of a list; `next` is the `after` of the next page, null at the end."""

    items: list[T]
    next: str | None


class BotStanding(Struct, frozen=True, kw_only=True):
    """A bot's standing in the rated competition of its game; `rating` is mu - 2 * phi."""

    rank: int | None
    of: int
    rating: float
    mu: float
    phi: float
    games: int
    won: int
    drawn: int
    lost: int
    last_match_at: datetime | None


def document(kind: type[D], view: object, /, **others: Any) -> D:
    """Return a struct with the attributes of a view; `others` are fields with other names."""
    fields = {
        name: others[name] if name in others else getattr(view, name)
        for name in kind.__struct_fields__
    }
    return kind(**fields)


def list_of(part: Part[T], document_of: Callable[[T], U]) -> List[U]:
    """Return a page of a list as a response struct."""
    return List(items=[document_of(item) for item in part.items], next=part.next)


CODES: Final[Mapping[int, str]] = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid",
    429: "rate_limited",
    500: "failed",
    503: "unavailable",
}
"""Error codes for API clients, by HTTP status."""

WORDS: Final[Mapping[int, str]] = {
    404: "There is no such route.",
    405: "This route does not allow this method.",
}
"""Messages of errors that have no message of their own."""


class Problem(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Why a request was refused."""

    error: str
    message: str
    fields: dict[str, str] | None = None
    limit: str | None = None
    retry_after: int | None = None


class Invalid(UnprocessableEntity):
    """Raised for a request body with invalid fields, each with its problem."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        """Set the problem of each field; the first one is the message."""
        super().__init__(next(iter(fields.values())))
        self.fields = dict(fields)


def is_for_programs() -> bool:
    """Return whether the request is for the API."""
    return request.path.startswith(API)


def refusal(
    code: int,
    message: str,
    fields: Mapping[str, str] | None = None,
    limit: str | None = None,
    retry_after: int | None = None,
) -> Response:
    """Return the response that explains why a request was refused."""
    problem = Problem(
        error=CODES.get(code, "failed"),
        message=message,
        fields=dict(fields) if fields else None,
        limit=limit,
        retry_after=retry_after,
    )
    answer = Response(msgspec.json.encode(problem), code, mimetype="application/json")
    answer.headers["Cache-Control"] = "no-store"
    if code == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="cw"'
    return answer


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
    """An API route and its description."""

    name: str
    method: Method
    path: str
    summary: str
    scope: Scope | None
    """The scope required of the token, or None if the route is public."""
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
    """The routes of a module, in the order in which they are described."""

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
        """Return a decorator that makes a function a route.

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
    """Reject a missing token where one is required, an invalid one, or one without the scope.

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
    """Return the query parameters of a request; abort with 400 if they are unknown or invalid."""
    try:
        return documents.convert(request.args.to_dict(), kind, strict=False)
    except msgspec.ValidationError as error:
        abort(400, f"{error}.")


def read_body(kind: type[S]) -> S:
    """Return the JSON body of a request; reject it if it is malformed or of another type."""
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
    """Return a JSON response with the value, or 304 for an unchanged GET."""
    answer = Response(msgspec.json.encode(value), code, mimetype="application/json")
    if request.method not in ("GET", "HEAD"):
        answer.headers["Cache-Control"] = "no-store"
        return answer
    answer.add_etag()
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.headers["Vary"] = "Authorization"
    answer.make_conditional(request)
    return answer


NO_NUL: Final = "^[^\\x00]*$"
"""Excludes NUL, which databases cannot store in text columns."""

Text: TypeAlias = Annotated[str, Meta(pattern=NO_NUL, max_length=2000)]

Name: TypeAlias = Annotated[str, Meta(pattern=NO_NUL, max_length=64)]

BotIdOrNone: TypeAlias = Annotated[
    str, Meta(pattern="^(b_[0-9a-f]{8})?$", description="`next` of the previous page.")
]

MatchIdOrNone: TypeAlias = Annotated[
    str, Meta(pattern="^(m_[0-9a-f]{8})?$", description="`next` of the previous page.")
]

PlaceOrNone: TypeAlias = Annotated[
    str, Meta(pattern="^([0-9]{1,6})?$", description="`next` of the previous page.")
]

Limit: TypeAlias = Annotated[
    int, Meta(ge=1, le=MOST, description="Maximum number of items per page.")
]

Players: TypeAlias = Annotated[
    int, Meta(ge=0, le=1000, description="The number of players; 0: any.")
]


class Query(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The parameters of a request."""


class OfBotQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Selects a page of a list keyed by matches."""

    limit: Limit = 50
    after: MatchIdOrNone = ""


class PlacesQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Selects a page of a list keyed by places."""

    limit: Limit = 50
    after: PlaceOrNone = ""
