"""How often something may be tried, by whom; counted in Redis, or in this process."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Timer
from time import monotonic
from typing import Any, Final, cast

from flask import Flask, Response, abort, current_app, g, request
from flask_limiter import Limiter
from limits import parse
from limits.storage import MemoryStorage, RedisStorage, Storage
from markupsafe import Markup

from cw.hub.pages.actor import actor, one_reading, resources
from cw.hub.pages.times import time_element
from cw.hub.services import bots

OTHERS: Final = "600 per minute"
"""What one address may ask of one page that has no limit of its own."""

PATIENCE: Final[dict[str, Any]] = {"socket_timeout": 2, "socket_connect_timeout": 2}
"""Seconds for an answer of Redis; without one the process counts by itself."""

READS: Final = "120 per minute"
READS_WITH_TOKEN: Final = "300 per minute"  # noqa: S105
WRITES: Final = "30 per minute"
"""What the API may be asked."""

WRONG_CARDS: Final = parse("60 per 10 minutes")
"""Login tokens that are not known, by address."""

POLLED: Final = ("tournaments.ladder_json", "tournaments.team_json", "tournaments.events_json")
UNCOUNTED: Final = ("static", "home.health", "ready.ready", "metrics.metrics", *POLLED)


SWEPT: Final = 60.0
"""Seconds between two sweeps of what this process has counted."""


class Sweep:
    """A timer of the library, which counts as running until the next sweep is due."""

    def __init__(self, timer: Timer) -> None:
        """Take what sweeps once."""
        self._timer = timer
        self._until = monotonic() + SWEPT

    def start(self) -> None:
        """Sweep soon."""
        self._timer.start()

    def is_alive(self) -> bool:
        """Return whether no other sweep shall begin."""
        return monotonic() < self._until


class OwnCounts(MemoryStorage):
    """What this process has counted; the library would sweep it after each request, in a thread."""

    STORAGE_SCHEME = ["own"]  # noqa: RUF012 - as the library has it

    @property  # type: ignore[override]
    def timer(self) -> Sweep:
        """What sweeps away counts that are over."""
        return self._sweep

    @timer.setter
    def timer(self, timer: Timer) -> None:
        self._sweep = Sweep(timer)


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


def bot() -> str:
    """Return the account that asks and the bot that it asks about, here or by the API."""
    names = request.view_args or {}
    with one_reading() as reading:
        if "bot_id" in names:
            found = bots.find_by_id(reading, names["bot_id"])
        else:
            found = bots.find(reading, request.values.get("game") or None, names["name"])
    return f"{user()} {found.bot_id if found else request.path.lower()}"


def team() -> str:
    """Return the team that asks, for others the address."""
    slug = (request.view_args or {}).get("slug", "")
    holder = actor().team(slug)
    return f"team {holder.team_id}" if holder else network()


def token() -> str:
    """Return the access token that is shown, without one the address."""
    holder = actor().user
    return holder.digest if holder else network()


def reads() -> str:
    """Return how often the API may be read."""
    return READS_WITH_TOKEN if actor().user else READS


def note_wrong_password() -> None:
    """Let this request count as a wrong password."""
    g.wrong_password = True


def note_wrong_card() -> None:
    """Count a login token that is not known; answer 429 once there were too many.

    Only these are counted, after they were looked at: a right one is let in all the same.
    """
    limiter = current_app.extensions["limiter_of_hub"]
    counted = (WRONG_CARDS, "card", network())
    try:
        is_taken = limiter.limiter.hit(*counted)
        ends = limiter.limiter.get_window_stats(*counted).reset_time
    except Exception as error:
        if not isinstance(error, limiter.limiter.storage.base_exceptions):
            raise
        # The counts are away: the process cannot know how many there were.
        return
    if not is_taken:
        g.retry_at = datetime.fromtimestamp(ends, UTC)
        abort(429)


def give_back_guess(response: Response) -> Response:
    """Take a request that has brought no wrong password out of what was counted.

    All are counted before the password is looked at: of any number that come at once no more are
    tried than the limit says.
    """
    limiter = current_app.extensions["limiter_of_hub"]
    if request.endpoint in WITH_PASSWORD and not g.get("wrong_password"):
        for met in limiter.current_limits:
            if met.request_args[-1] in GUESSES and not met.breached:
                give_back(limiter.limiter.storage, met.key)
    return response


def give_back(storage: Storage, key: str) -> None:
    """Take the latest of what was counted under a key away; a store that is gone keeps it."""
    if isinstance(storage, MemoryStorage):
        with storage.locks[key]:
            del storage.events.get(key, [])[:1]
    elif isinstance(storage, RedisStorage):
        try:
            storage.storage.lpop(storage.prefixed_key(key))
        except storage.base_exceptions:
            return


@dataclass(frozen=True, slots=True)
class Limit:
    """How often the POSTs of some pages are taken together."""

    scope: str
    amount: str | Callable[[], str]
    of: Callable[[], str]
    endpoints: tuple[str, ...]
    methods: tuple[str, ...] = ("POST",)


WITH_PASSWORD: Final = ("account.login_post", "settings.change_password", "settings.delete")
GUESSES: Final = ("guess", "guess-name", "guess-network")
"""The limits that count wrong passwords alone."""

LIMITS: Final = (
    Limit("guess", "10 per 15 minutes", name_and_network, WITH_PASSWORD),
    Limit("guess-name", "100 per hour", name, WITH_PASSWORD),
    Limit("guess-network", "300 per hour", network, WITH_PASSWORD),
    Limit("register", "100 per hour", network, ("account.register", "github.welcome")),
    Limit("github", "20 per hour", network, ("github.begin",), ("GET",)),
    Limit("github-callback", "20 per hour", network, ("github.callback",), ("GET",)),
    Limit("token", "10 per hour", user, ("tokens.create",)),
    Limit("forgot", "3 per hour", name, ("account.forgot",)),
    Limit("forgot-network", "60 per hour", network, ("account.forgot",)),
    Limit("reset", "30 per hour", network, ("account.reset",), ("GET", "POST")),
    Limit("verify", "3 per hour", user, ("account.send_verification",)),
    Limit("bot", "5 per hour; 20 per day", user, ("bots.register", "api.register_bot")),
    Limit("check", "10 per hour", bot, ("bots.check", "api.check_bot")),
    Limit("rotate", "10 per hour", bot, ("bots.rotate", "api.rotate_secret")),
    Limit("test-match", "6 per hour", bot, ("bots.practise", "api.test_match")),
    Limit("team-check", "6 per minute", team, ("my_team.check",)),
    Limit("team-bot", "20 per hour", team, ("my_team.bot", "my_team.ssh_key")),
    Limit("team-practice", "12 per hour", team, ("my_team.practice",)),
    Limit("team-upload", "10 per hour", team, ("my_team.upload",)),
    Limit("live-match", "60 per minute", network, ("matches.begin",)),
    Limit("avatar", "10 per hour", user, ("settings.change_avatar",)),
)


LINKS: Final = Limit("api-links", "60 per minute", token, ("api.match_replay",), ("GET",))


def told_of_api() -> dict[str, str]:
    """Return how often the API may be asked, for people."""
    amounts = {limit.scope: str(limit.amount) for limit in LIMITS}
    return {
        "Reading, for each token": READS_WITH_TOKEN,
        "Reading without a token, for each address": READS,
        "Links to replays": str(LINKS.amount),
        "All that is done, for each token": WRITES,
        "Registering bots, for each account": amounts["bot"],
        "Checks, for each bot": amounts["check"],
        "New secrets, for each bot": amounts["rotate"],
        "Practice matches, for each bot": amounts["test-match"],
    }


def limits_of_api(app: Flask) -> tuple[Limit, ...]:
    """Return the limits of the API: of all that is read together, and of all that is done."""
    of_api = [rule for rule in app.url_map.iter_rules() if rule.endpoint.startswith("api.")]
    read = tuple(rule.endpoint for rule in of_api if "GET" in (rule.methods or ()))
    done = tuple(rule.endpoint for rule in of_api if rule.endpoint not in read)
    return (
        LINKS,
        Limit("api-reads", reads, token, read, ("GET", "HEAD")),
        Limit("api-writes", WRITES, token, done, ("POST", "PATCH")),
    )


def install(app: Flask, storage: str, families: Container[str | None]) -> None:
    """Put the limits before the views of an app; those of other blueprints are not limited."""
    is_shared = not storage.startswith("memory:")
    limiter = Limiter(
        key_func=network,
        default_limits=[OTHERS],
        default_limits_exempt_when=lambda: (
            request.blueprint not in families
            or request.blueprint == "api"
            or request.endpoint in UNCOUNTED
        ),
        storage_uri=storage if is_shared else "own://",
        strategy="moving-window",
        storage_options=PATIENCE if is_shared else {},
        in_memory_fallback_enabled=is_shared,
    )
    limiter.init_app(app)
    app.extensions["limiter_of_hub"] = limiter
    app.after_request(give_back_guess)
    for limit in (*LIMITS, *limits_of_api(app)):
        decorate = limiter.shared_limit(
            limit.amount,
            scope=limit.scope,
            key_func=limit.of,
            methods=list(limit.methods),
            override_defaults=False,
        )
        for endpoint in limit.endpoints:
            view: Any = app.view_functions[endpoint]
            app.view_functions[endpoint] = decorate(view)


def met() -> str:
    """Return the limit that a request met, such as `5 per 1 hour`."""
    limit = current_app.extensions["limiter_of_hub"].current_limit
    return str(limit.limit) if limit else ""


def retry_at() -> datetime:
    """Return when a request that met a limit may be tried again."""
    if "retry_at" in g:
        return cast(datetime, g.retry_at)
    met = current_app.extensions["limiter_of_hub"].current_limit
    return datetime.fromtimestamp(met.reset_at, UTC) if met else resources().clock()


def too_many_words(moment: datetime) -> Markup:
    """Return what people read who have met a limit, with the time of its end."""
    words = Markup("Too many attempts. Try again {}.")
    return words.format(time_element(moment, resources().clock()))
