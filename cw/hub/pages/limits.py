"""How often something may be tried, by whom; counted in Redis, or in this process."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Final

from flask import Flask, Response, current_app, g, request
from flask_limiter import Limiter
from markupsafe import Markup

from cw.hub.pages.actor import actor, resources
from cw.hub.pages.times import time_element

OTHERS: Final = "600 per minute"
"""What one address may ask of one page that has no limit of its own."""

PATIENCE: Final[dict[str, Any]] = {"socket_timeout": 2, "socket_connect_timeout": 2}
"""Seconds for an answer of Redis; without one the process counts by itself."""

UNCOUNTED: Final = ("static", "home.health")


def network() -> str:
    """Return the address that asks; of IPv6 the /64, which one customer has at least."""
    address = ip_address(request.remote_addr or "127.0.0.1")
    if isinstance(address, IPv6Address):
        return str(ip_network((address, 64), strict=False).network_address)
    return str(address)


def name() -> str:
    """Return the account that a password is tried for: the one that asks, or the one named."""
    user = actor().user
    named = user.username if user else request.form.get("username", "")
    return named.lower()[:100]


def name_and_network() -> str:
    """Return the account that a password is tried for, and from where."""
    return f"{name()} {network()}"


def user() -> str:
    """Return the account that asks, for a visitor the address."""
    holder = actor().user
    return str(holder.user_id) if holder else network()


def note_wrong_password() -> None:
    """Count this request as a wrong password."""
    g.wrong_password = True


def was_wrong(_: Response) -> bool:
    """Return whether this request has brought a wrong password."""
    return bool(g.get("wrong_password"))


@dataclass(frozen=True, slots=True)
class Limit:
    """How often the POSTs of some pages are taken together."""

    scope: str
    amount: str
    of: Callable[[], str]
    endpoints: tuple[str, ...]
    methods: tuple[str, ...] = ("POST",)
    counts: Callable[[Response], bool] | None = field(default=None)
    """What is counted; None for each request."""


WITH_PASSWORD: Final = ("account.login_post", "settings.change_password", "settings.delete")
LIMITS: Final = (
    Limit("guess", "10 per 15 minutes", name_and_network, WITH_PASSWORD, counts=was_wrong),
    Limit("guess-name", "100 per hour", name, WITH_PASSWORD, counts=was_wrong),
    Limit("guess-network", "300 per hour", network, WITH_PASSWORD, counts=was_wrong),
    Limit("register", "100 per hour", network, ("account.register",)),
    Limit("forgot", "3 per hour", name, ("account.forgot",)),
    Limit("forgot-network", "60 per hour", network, ("account.forgot",)),
    Limit("reset", "30 per hour", network, ("account.reset",), ("GET", "POST")),
    Limit("verify", "3 per hour", user, ("account.send_verification",)),
    Limit("avatar", "10 per hour", user, ("settings.change_avatar",)),
)


def install(app: Flask, storage: str, families: Container[str | None]) -> None:
    """Put the limits before the views of an app; those of other blueprints are not limited."""
    is_shared = not storage.startswith("memory:")
    limiter = Limiter(
        key_func=network,
        default_limits=[OTHERS],
        default_limits_exempt_when=lambda: (
            request.blueprint not in families or request.endpoint in UNCOUNTED
        ),
        storage_uri=storage,
        strategy="moving-window",
        storage_options=PATIENCE if is_shared else {},
        in_memory_fallback_enabled=is_shared,
    )
    limiter.init_app(app)
    app.extensions["limiter_of_hub"] = limiter
    for limit in LIMITS:
        decorate = limiter.shared_limit(
            limit.amount,
            scope=limit.scope,
            key_func=limit.of,
            methods=list(limit.methods),
            deduct_when=limit.counts,
            override_defaults=False,
        )
        for endpoint in limit.endpoints:
            view: Any = app.view_functions[endpoint]
            app.view_functions[endpoint] = decorate(view)


def retry_at() -> datetime:
    """Return when a request that met a limit may be tried again."""
    met = current_app.extensions["limiter_of_hub"].current_limit
    return datetime.fromtimestamp(met.reset_at, UTC) if met else resources().clock()


def too_many_words(moment: datetime) -> Markup:
    """Return what people read who have met a limit, with the time of its end."""
    words = Markup("Too many attempts. Try again {}.")
    return words.format(time_element(moment, resources().clock()))
