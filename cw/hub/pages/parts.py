"""Parts that pages of all subjects share: notices, moments, flags, pictures, addresses."""

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

from cw.hub.pages.request import resources
from cw.hub.pages.times import time_element
from cw.kits import LANGUAGES

Family: TypeAlias = Blueprint
"""Pages of one subject, under addresses of their own."""

Application: TypeAlias = Flask

Mood: TypeAlias = Literal["good", "bad", "plain"]


def notice(words: str, mood: Mood = "good") -> None:
    """Show a notice on the next page that this browser is shown."""
    flash(words, mood)


def remembered_addresses() -> Callable[..., str]:
    """Return `url_for` that remembers what it has built: a page asks it twenty times."""

    @lru_cache(maxsize=4096)
    def build(_root: str, endpoint: str, values: tuple[tuple[str, Any], ...]) -> str:
        return url_for(endpoint, **dict(values))

    def address_of(endpoint: str, **values: Any) -> str:
        return build(request.script_root, endpoint, tuple(values.items()))

    return address_of


def part_of_page(template: str, **values: Any) -> Markup:
    """Return a template as HTML that stands within another."""
    return Markup(render_template(template, **values))  # noqa: S704 - templates escape


def ago(moment: datetime) -> Markup:
    """Return the HTML of a moment."""
    return time_element(moment, resources().clock())


def address_of(endpoint: str, **values: Any) -> str:
    """Return an address of this site, remembered."""
    return cast(str, current_app.extensions["addresses"](endpoint, **values))


def show_once(heading: str, label: str, secret: str, back: str, *, variable: str = "") -> Response:
    """Show what nobody is told again, and where to go on from there.

    `variable` is that of a bot's environment; with one, the line is shown that starts a kit.
    """
    start = f"{variable}={secret} {LANGUAGES['python'].run}" if variable else ""
    values = {"heading": heading, "label": label, "secret": secret, "back": back, "start": start}
    page = make_response(render_template("hub/pages/secret.html", **values))
    page.headers["Cache-Control"] = "no-store"
    return page


def address_with(**changed: object) -> str:
    """Return the address of this page with other choices; those that are empty are left out."""
    query = {**request.args.to_dict(), **changed}
    choices = {name: value for name, value in query.items() if value and name != "format"}
    return f"{request.path}?{urlencode(choices)}" if choices else request.path


def avatar(digest: str | None) -> str:
    """Return the address of a picture, by its SHA-256; None is for those who have chosen none."""
    if digest is None:
        return address_of("static", filename="hub/nobody.svg")
    return address_of("profile.picture", digest=digest)
