"""Looks up the current user's personal limits, once per request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Flask, abort, g, request

from cw_hub.accounts import limits as accounts_limits
from cw_hub.accounts.actor import actor
from cw_hub.pages.request import one_reading

LOCKED: Final = "An admin has locked this for your account."


def own_limits() -> Mapping[str, int]:
    """Return the limits set for the current user, by name; none for a visitor."""
    user = actor().user
    if user is None:
        return {}
    if "own_limits" not in g:
        with one_reading() as reading:
            g.own_limits = accounts_limits.of_user(reading, user.user_id)
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


def install(app: Flask, names: Mapping[str, str]) -> None:
    """Refuse requests that are locked for the current user; `names` maps endpoints to limits."""

    def refuse_locked() -> None:
        name = names.get(request.endpoint or "")
        if name and request.method == "POST" and own_limits().get(name) == 0:
            abort(403, LOCKED)

    app.before_request(refuse_locked)
