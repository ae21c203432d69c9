"""Responses that browsers may cache but must revalidate."""

from __future__ import annotations

from flask import Response, make_response


def revalidated(page: str | Response) -> Response:
    """Return a response that browsers must revalidate before each use."""
    answer = make_response(page)
    answer.headers["Cache-Control"] = "no-cache"
    return answer
