"""Parts shared by pages of all subjects: notices, moments, flags, pictures, addresses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import urlencode

from flask import (
    Blueprint,
    Flask,
    Response,
    current_app,
    flash,
    make_response,
    render_template,
    request,
    url_for,
)
from markupsafe import Markup

from cw.kits import LANGUAGES
from cw_hub.pages.request import resources
from cw_hub.pages.times import time_element

Family: TypeAlias = Blueprint
"""Pages of one subject, under a common prefix."""

Application: TypeAlias = Flask

Mood: TypeAlias = Literal["good", "bad", "plain"]


def notice(words: str, mood: Mood = "good") -> None:
    """Show a notice on the next page in this browser."""
    flash(words, mood)


def remembered_addresses() -> Callable[..., str]:
    """Return a caching `url_for`, because a page calls it twenty times."""

    @lru_cache(maxsize=4096)
    def build(_root: str, endpoint: str, values: tuple[tuple[str, Any], ...]) -> str:
        return url_for(endpoint, **dict(values))

    def address_of(endpoint: str, **values: Any) -> str:
        return build(request.script_root, endpoint, tuple(values.items()))

    return address_of


def part_of_page(template: str, **values: Any) -> Markup:
    """Return a template as HTML for use within another."""
    return Markup(render_template(template, **values))  # noqa: S704 - templates escape


def ago(moment: datetime) -> Markup:
    """Return the HTML of a moment."""
    return time_element(moment, resources().clock())


def address_of(endpoint: str, **values: Any) -> str:
    """Return an address of this site; cached."""
    return cast(str, current_app.extensions["addresses"](endpoint, **values))


def show_once(heading: str, label: str, secret: str, back: str, *, variable: str = "") -> Response:
    """Show a secret that is never shown again, and a link to continue.

    `variable` is the bot's environment variable; with it, the command that starts a kit is shown.
    """
    start = f"{variable}={secret} {LANGUAGES['python'].run}" if variable else ""
    values = {"heading": heading, "label": label, "secret": secret, "back": back, "start": start}
    page = make_response(render_template("hub/pages/secret.html", **values))
    page.headers["Cache-Control"] = "no-store"
    return page


def address_with(**changed: object) -> str:
    """Return the address of this page with changed choices; empty ones are left out."""
    query = {**request.args.to_dict(), **changed}
    choices = {name: value for name, value in query.items() if value and name != "format"}
    return f"{request.path}?{urlencode(choices)}" if choices else request.path


def avatar(digest: str | None) -> str:
    """Return the address of a picture by its SHA-256; None: the default picture."""
    if digest is None:
        return address_of("static", filename="hub/nobody.svg")
    return address_of("profile.picture", digest=digest)
