"""Protection of all pages: security headers, https, size limits of forms, CSRF tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Final
from urllib.parse import quote, urlsplit

from flask import Flask, Response, abort, g, redirect, request
from flask_wtf import CSRFProtect
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.wrappers import Response as AnyResponse

from cw.server.app import CONTENT_SECURITY_POLICY
from cw_hub.operation.settings import HubSettings

POLICY: Final = (
    "default-src 'self'; connect-src 'self'; img-src 'self' blob: data:; object-src 'none';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
EMBEDDED: Final = f"{CONTENT_SECURITY_POLICY}*"
"""The policy of a page that other sites may embed; nothing can be changed there."""

YEAR: Final = 365 * 86_400
LARGEST_FORM: Final = 64 * 1024
LARGEST_PICTURE: Final = 5 * 1024 * 1024
LARGEST_BODY: Final = 8 * 1024 * 1024
"""Larger than the image limit, so that a too large image gets a helpful message."""

MOST_FIELDS: Final = 50
WITH_TEAMS: Final = "host.post"
MOST_TEAMS: Final = 1100
"""Maximum number of fields in a form with selected teams."""

WITH_FILE: Final = (
    "settings.change_avatar",
    "organising.create",
    "organising.change_picture",
    "host.change_picture",
    "my_team.upload",
    "bots.upload",
    "bot_settings.upload",
    "bots.register_program",
    "api.register_bot",
    "api.save_version",
)

SCRIPTED: Final = ("api", "games", "matches", "news", "play_on", "replays", "room")
"""Blueprints requested by scripts, bots and email clients; they reject other sites themselves."""

WITH_ACCOUNTS: Final = ("account", "settings", "tokens", "github")
"""Blueprints for entering and showing passwords and tokens."""

JOIN: Final = "joining.join"
"""The endpoint where team tokens are entered, on public pages."""

ASKED_BESIDE: Final = ("home.health", "ready.ready", "metrics.metrics")
"""Endpoints requested by programs on the same network, over http and bypassing the proxy."""

INSECURE: Final = "Accounts require HTTPS. Please contact the operator of this site."


def install(
    app: Flask, settings: HubSettings, blueprints: Iterable[str], store: str | None
) -> None:
    """Add the guards to an app.

    `blueprints` are the names of the hub's blueprints; `store` is the origin of links to objects,
    if that is another one.
    """
    is_https = settings.address.startswith("https:")
    families = frozenset(blueprints)
    app.config.update(configuration(is_https=is_https))
    app.config["LARGE_BODIES"] |= {
        rule.endpoint for rule in app.url_map.iter_rules() if family(rule.endpoint) in families
    }
    # Keep forwarded headers sent by untrusted clients: they are ignored, but their presence is
    # checked.
    app.config["FORWARDED"] = True
    app.wsgi_app = ClientAddress(app.wsgi_app, settings.trusted_proxy)  # type: ignore[method-assign]
    if urlsplit(settings.public_url).scheme == "https":
        app.before_request(lambda: to_https(settings.public_url))
    if not settings.has_safe_accounts:
        app.before_request(refuse_accounts)
    app.before_request(lambda: bound_form(families))
    app.before_request(lambda: refuse_nul(families))
    guard_forms(app)
    app.after_request(lambda response: harden(response, store, is_https=is_https))


def configuration(*, is_https: bool) -> dict[str, Any]:
    """Return the configuration of cookies, CSRF tokens and body sizes."""
    return {
        "SESSION_COOKIE_NAME": "__Host-cw" if is_https else "cw",
        "SESSION_COOKIE_SECURE": is_https,
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "SESSION_REFRESH_EACH_REQUEST": False,
        "PERMANENT_SESSION_LIFETIME": timedelta(days=90),
        "WTF_CSRF_TIME_LIMIT": 86_400,
        "MAX_CONTENT_LENGTH": LARGEST_BODY,
    }


def family(endpoint: str | None) -> str:
    """Return the blueprint name of an endpoint."""
    return (endpoint or "").rpartition(".")[0]


def guard_forms(app: Flask) -> None:
    """Require a CSRF token in each form of the site."""
    tokens = CSRFProtect(app)
    for name in SCRIPTED:
        if name in app.blueprints:
            tokens.exempt(app.blueprints[name])


class ClientAddress:
    """WSGI middleware that sets the client's IP address; trusts headers of known proxies only."""

    def __init__(self, app: Callable[..., Any], networks: Iterable[str]) -> None:
        """Wrap a WSGI app; proxies in `networks` are trusted."""
        self._app = app
        self._forwarded = ProxyFix(self._answer, x_for=1, x_proto=1)
        self._networks = [ip_network(network) for network in networks]

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        """Handle a request."""
        is_proxy = self._trusts(unmapped(environ.get("REMOTE_ADDR", "")))
        return (self._forwarded if is_proxy else self._answer)(environ, start_response)

    def _answer(self, environ: dict[str, Any], start_response: Any) -> Any:
        environ["REMOTE_ADDR"] = unmapped(environ.get("REMOTE_ADDR", ""))
        return self._app(environ, start_response)

    def _trusts(self, address: str) -> bool:
        try:
            return any(ip_address(address) in network for network in self._networks)
        except ValueError:
            return False


def unmapped(address: str) -> str:
    """Return an IPv4-mapped IPv6 address as IPv4, and any other text unchanged."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return address if mapped is None else str(mapped)


def to_https(public_url: str) -> AnyResponse | None:
    """Redirect an http request to https; reject it if it would change something."""
    if request.is_secure or request.endpoint in ASKED_BESIDE:
        return None
    if request.method not in ("GET", "HEAD"):
        abort(403, "Please use https.")
    path = quote(request.path)
    query = request.query_string.decode("ascii", "replace")
    return redirect(f"{public_url}{path}?{query}" if query else f"{public_url}{path}", 308)


def refuse_accounts() -> None:
    """Reject account pages and access tokens."""
    blueprint, shows_token = family(request.endpoint), "Authorization" in request.headers
    if (
        blueprint in WITH_ACCOUNTS
        or request.endpoint == JOIN
        or (blueprint == "api" and shows_token)
    ):
        abort(403, INSECURE)


def bound_form(families: frozenset[str]) -> None:
    """Reject requests to hub pages that exceed the size or field limits of their form."""
    if request.method not in ("POST", "PATCH") or family(request.endpoint) not in families:
        return
    largest = LARGEST_BODY if request.endpoint in WITH_FILE else LARGEST_FORM
    most = MOST_FIELDS
    if request.endpoint == WITH_TEAMS:
        largest, most = 4 * LARGEST_FORM, MOST_TEAMS
    request.max_content_length = largest
    request.max_form_parts = most
    if (request.content_length or 0) > largest:
        abort(413, f"A request may have at most {largest // 1024} KiB.")
    if request.endpoint not in WITH_FILE and count_fields() > most:
        abort(413, f"A form may have at most {most} fields.")


def refuse_nul(families: frozenset[str]) -> None:
    """Reject NUL characters, which databases cannot store and no keyboard can type."""
    if family(request.endpoint) not in families:
        return
    texts = [request.path, *request.args.values()]
    if request.method not in ("GET", "HEAD"):
        texts += [value for _, values in request.form.lists() for value in values]
    if any("\0" in text for text in texts):
        abort(404 if "\0" in request.path else 400)


def count_fields() -> int:
    """Return the number of values in a form."""
    return sum(len(values) for _, values in request.form.lists())


def harden(response: Response, store: str | None, *, is_https: bool) -> Response:
    """Add security headers to a response."""
    headers = response.headers
    policy = EMBEDDED if headers.get("Content-Security-Policy") == EMBEDDED else POLICY
    reached = f"connect-src 'self' {store}" if store else "connect-src 'self'"
    if "style_nonce" in g:
        policy += f"; style-src 'self' 'nonce-{g.style_nonce}'"
    headers["Content-Security-Policy"] = policy.replace("connect-src 'self'", reached)
    headers["Referrer-Policy"] = "same-origin"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    if is_https:
        headers["Strict-Transport-Security"] = f"max-age={YEAR}"
    if family(request.endpoint) in WITH_ACCOUNTS:
        headers["Cache-Control"] = "no-store"
    elif response.mimetype == "text/html" and headers.get("Cache-Control") != "no-store":
        headers["Cache-Control"] = "private, no-cache"
    return response
