"""Rate limits per user or IP address, counted in Redis or in the memory of this process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Final, NoReturn, cast

from flask import Flask, Response, abort, current_app, g, request
from flask_limiter import Limiter
from limits import RateLimitItem, parse
from markupsafe import Markup

from cw_hub.operation.shared import PATIENCE, OwnCounts, give_back
from cw_hub.pages.layout import time_element
from cw_hub.pages.request import resources

OTHERS: Final = "600 per minute"
"""The limit per IP address for a page without a limit of its own."""

WRONG_CARDS: Final = parse("60 per 10 minutes")
"""The limit on unknown login tokens per IP address."""


WRONG_LINKS: Final = parse("30 per hour")
"""The limit on unknown or expired password reset links per IP address."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a rate limit."""

    left: int
    until: datetime
    """When further requests become available."""


def network() -> str:
    """Return the client's IP address; for IPv6 its /64, the smallest network of a customer."""
    address = ip_address(request.remote_addr or "127.0.0.1")
    if isinstance(address, IPv6Address):
        return str(ip_network((address, 64), strict=False).network_address)
    return str(address)


def note_wrong_password() -> None:
    """Count this request as a wrong password."""
    g.wrong_password = True


def note_wrong_card() -> None:
    """Count an unknown login token; abort with 429 if there were too many."""
    count_wrong(WRONG_CARDS, "card")


def note_wrong_link() -> None:
    """Count an unknown link; abort with 429 if there were too many."""
    count_wrong(WRONG_LINKS, "link")


def count_wrong(most: RateLimitItem, scope: str) -> None:
    """Count a failure by the client address; abort with 429 if there were too many.

    Only failures count, after they were checked, so valid requests still pass.
    """
    limiter = current_app.extensions["limiter_of_hub"]
    counted = (most, scope, network())
    try:
        is_taken = limiter.limiter.hit(*counted)
        ends = limiter.limiter.get_window_stats(*counted).reset_time
    except Exception as error:
        if not isinstance(error, limiter.limiter.storage.base_exceptions):
            raise
        # The counts are unavailable, so this process cannot know how many there were.
        return
    if not is_taken:
        g.retry_at = datetime.fromtimestamp(ends, UTC)
        abort(429)


def refuse(limit: RateLimitItem, until: datetime) -> NoReturn:
    """Abort with 429 because a limit was reached; `until` is when it ends."""
    g.limit_met, g.retry_at = str(limit), until
    abort(429)


@dataclass(frozen=True, slots=True)
class Limit:
    """A rate limit shared by the POST requests of several pages."""

    scope: str
    amount: str | Callable[[], str]
    key: Callable[[], str]
    endpoints: tuple[str, ...]
    methods: tuple[str, ...] = ("POST",)
    only_done: bool = False
    """Whether only successful requests count (see `note_done`); rejected ones use up nothing."""


def note_done() -> None:
    """Mark this request as successful for the limits that count only such requests."""
    g.done = True


def give_back_refused(response: Response) -> Response:
    """Remove an unsuccessful request from the limits that count only successful ones.

    All requests are counted first, so that concurrent ones cannot exceed the limit.
    """
    if not g.get("done"):
        give_back_of(current_app.extensions["limits_of_done"])
    return response


def give_back_of(scopes: Collection[str]) -> None:
    """Remove this request from the counts of some limits."""
    limiter = current_app.extensions["limiter_of_hub"]
    for met in limiter.current_limits:
        if met.request_args[-1] in scopes and not met.breached:
            give_back(limiter.limiter.storage, met.key)


def allowance(scope: str) -> Allowance | None:
    """Return what the caller has left of a limit on successful requests, or None if unknown."""
    limit: Limit = current_app.extensions["limits_of_done"][scope]
    limiter = current_app.extensions["limiter_of_hub"]
    most = parse(limit.amount() if callable(limit.amount) else limit.amount)
    try:
        stats = limiter.limiter.get_window_stats(most, limit.key(), scope)
    except limiter.limiter.storage.base_exceptions:
        return None
    return Allowance(stats.remaining, datetime.fromtimestamp(stats.reset_time, UTC))


def install(
    app: Flask, storage: str, limits: Iterable[Limit], is_exempt: Callable[[], bool]
) -> None:
    """Add limits to an app's views, and a default limit to views without one."""
    is_shared = not storage.startswith("memory:")
    limiter = Limiter(
        key_func=network,
        default_limits=[OTHERS],
        default_limits_exempt_when=is_exempt,
        storage_uri=storage if is_shared else f"{OwnCounts.STORAGE_SCHEME[0]}://",
        strategy="moving-window",
        storage_options=PATIENCE if is_shared else {},
        in_memory_fallback_enabled=is_shared,
    )
    limiter.init_app(app)
    app.extensions["limiter_of_hub"] = limiter
    known = tuple(limits)
    app.extensions["limits_of_done"] = {each.scope: each for each in known if each.only_done}
    app.after_request(give_back_refused)
    for limit in known:
        decorate = limiter.shared_limit(
            limit.amount,
            scope=limit.scope,
            key_func=limit.key,
            methods=list(limit.methods),
            override_defaults=False,
        )
        for endpoint in limit.endpoints:
            view: Any = app.view_functions[endpoint]
            app.view_functions[endpoint] = decorate(view)


def met() -> str:
    """Return the limit that a request reached, such as `5 per 1 hour`."""
    if "limit_met" in g:
        return cast(str, g.limit_met)
    limit = current_app.extensions["limiter_of_hub"].current_limit
    return str(limit.limit) if limit else ""


def retry_at() -> datetime:
    """Return when a request that reached a limit may be retried."""
    if "retry_at" in g:
        return cast(datetime, g.retry_at)
    met = current_app.extensions["limiter_of_hub"].current_limit
    return datetime.fromtimestamp(met.reset_at, UTC) if met else resources().clock()


def too_many_words(moment: datetime) -> Markup:
    """Return the message about a reached limit, with the time when it ends."""
    words = Markup("Too many attempts. Try again {}.")
    return words.format(time_element(moment, resources().clock()))
