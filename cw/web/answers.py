"""Answers of pages that browsers may store, and ask for again each time."""

from __future__ import annotations

from flask import Response, make_response


def revalidated(page: str | Response) -> Response:
    """Return an answer that is shown again only after the server was asked whether it holds."""
    answer = make_response(page)
    answer.headers["Cache-Control"] = "no-cache"
    return answer
