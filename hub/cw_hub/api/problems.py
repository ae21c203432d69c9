"""API errors, in one common form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from flask import Response, request
from msgspec import Struct
from werkzeug.exceptions import UnprocessableEntity

from cw_hub.accounts.access.actor import API

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
"""Error codes for programs, by status."""

WORDS: Final[Mapping[int, str]] = {
    404: "There is no such route.",
    405: "This route does not allow this method.",
}
"""Messages for errors that have none of their own."""


class Problem(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Why a request was refused."""

    error: str
    message: str
    fields: dict[str, str] | None = None
    limit: str | None = None
    retry_after: int | None = None


class Invalid(UnprocessableEntity):
    """A body with invalid fields, each with its problem."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        """Take the problem of each field; the first one is the message."""
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
