"""Page elements shared by all pages: notices, timestamps, flags, avatars, URLs."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias, cast
from urllib.parse import urlencode, urlsplit

import pycountry
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
from cw_hub.pages.security import JOIN, WITH_ACCOUNTS, family

UNITS: Final = (
    ("year", 365 * 86_400),
    ("month", 30 * 86_400),
    ("week", 7 * 86_400),
    ("day", 86_400),
    ("hour", 3_600),
    ("minute", 60),
    ("second", 1),
)
"""Units of time with their seconds, largest first."""

LONGEST_NOW: Final = 10
"""Seconds from a time that still count as now."""

SECOND: Final = timedelta(seconds=1)


def relative(moment: datetime, now: datetime) -> str:
    """Return `now`, `3 weeks ago` or `in 1 hour`, in the largest unit that fits, rounded down."""
    words = distance(abs(now - moment) // SECOND)
    if words == "now":
        return words
    return f"in {words}" if moment > now else f"{words} ago"


def distance(seconds: int) -> str:
    """Return `now`, or a number with its unit, for a number of seconds."""
    if seconds <= LONGEST_NOW:
        return "now"
    unit, size = next(row for row in UNITS if row[1] <= seconds)
    number = seconds // size
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def machine_time(moment: datetime) -> str:
    """Return a time as ISO 8601 in UTC to the second, with a Z."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def time_element(moment: datetime, now: datetime) -> Markup:
    """Return the HTML element of a time; hub/static/hub/times.js keeps its text current."""
    utc = moment.astimezone(UTC).isoformat(" ")
    words = relative(moment, now)
    # Nothing in it needs escaping, and a page may contain hundreds.
    return Markup(  # noqa: S704
        f'<time datetime="{utc[:10]}T{utc[11:19]}Z" title="{utc[:16]} UTC">{words}</time>'
    )


Family: TypeAlias = Blueprint
"""A blueprint of pages on one subject, under a common URL prefix."""

Application: TypeAlias = Flask

Mood: TypeAlias = Literal["good", "bad", "plain"]


def notice(words: str, mood: Mood = "good") -> None:
    """Show a notice on the next page in this browser."""
    flash(words, mood)


def remembered_addresses() -> Callable[..., str]:
    """Return a cached `url_for`, because a page calls it about twenty times."""

    @lru_cache(maxsize=4096)
    def build(_root: str, endpoint: str, values: tuple[tuple[str, Any], ...]) -> str:
        return url_for(endpoint, **dict(values))

    def address_of(endpoint: str, **values: Any) -> str:
        return build(request.script_root, endpoint, tuple(values.items()))

    return address_of


def part_of_page(template: str, **values: Any) -> Markup:
    """Render a template as HTML for use within another."""
    return Markup(render_template(template, **values))  # noqa: S704 - templates escape


def ago(moment: datetime) -> Markup:
    """Return the HTML of a time relative to now."""
    return time_element(moment, resources().clock())


def address_of(endpoint: str, **values: Any) -> str:
    """Return a URL of this site; cached."""
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
    """Return this page's URL with changed query parameters; empty ones are left out."""
    query = {**request.args.to_dict(), **changed}
    choices = {name: value for name, value in query.items() if value and name != "format"}
    return f"{request.path}?{urlencode(choices)}" if choices else request.path


def avatar(digest: str | None) -> str:
    """Return the URL of an avatar by its SHA-256; for None, the default avatar."""
    if digest is None:
        return address_of("static", filename="hub/nobody.svg")
    return address_of("profile.picture", digest=digest)


FLAGS: Final = "vendor/flag-icons-7.5.0"
"""The folder of flags in static/, with one file per country, named by its two-letter code."""

COMMON_NAMES: Final[Mapping[str, str]] = {
    "BN": "Brunei",
    "BQ": "Caribbean Netherlands",
    "CD": "Democratic Republic of the Congo",
    "CG": "Republic of the Congo",
    "CV": "Cape Verde",
    "FK": "Falkland Islands",
    "FM": "Micronesia",
    "MF": "Saint Martin",
    "MO": "Macau",
    "PN": "Pitcairn Islands",
    "PS": "Palestine",
    "RU": "Russia",
    "SX": "Sint Maarten",
    "VA": "Vatican City",
    "VG": "British Virgin Islands",
    "VI": "United States Virgin Islands",
}
"""Common names of countries for which pycountry has only the formal name."""


def names() -> dict[str, str]:
    """Return the names of all countries by two-letter code, in alphabetical order."""
    by_code = {
        country.alpha_2: COMMON_NAMES.get(country.alpha_2)
        or getattr(country, "common_name", country.name)
        for country in pycountry.countries
    }
    return dict(sorted(by_code.items(), key=lambda item: sort_key(item[1])))


def sort_key(name: str) -> str:
    """Return a name without accents and in lower case, for sorting."""
    letters = unicodedata.normalize("NFD", name)
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()


COUNTRIES: Final[Mapping[str, str]] = names()


def flag(country: str) -> str:
    """Return the URL of a country's flag."""
    return address_of("static", filename=f"{FLAGS}/{country.lower()}.svg")


def folder_of_flags() -> str:
    """Return the URL of the flags folder, for scripts."""
    return address_of("static", filename=FLAGS)


TITLE: Final = "Form expired"
WORDS: Final = (
    "Nothing has changed: this form is more than a day old, or you have logged in or out since you"
    " opened it."
)
TOKEN: Final = "csrf_token"  # noqa: S105 - the name of a field


@dataclass(frozen=True, slots=True)
class TypedForm:
    """A submitted form that the user may submit again."""

    action: str
    fields: tuple[tuple[str, str], ...]


def typed_form() -> TypedForm | None:
    """Return this request's form, or None if it must not be resubmitted.

    That is a form from another site, which must not be submitted by a click here; one with a
    password or a token, which no page repeats; and one with a file.
    """
    if is_secret() or has_file() or not is_own(request.origin):
        return None
    fields = tuple(pair for pair in request.form.items(multi=True) if pair[0] != TOKEN)
    return TypedForm(path_of(request.full_path), fields)


def is_secret() -> bool:
    """Return whether this request's form contains passwords or tokens."""
    return request.endpoint == JOIN or family(request.endpoint) in WITH_ACCOUNTS


def has_file() -> bool:
    """Return whether a file was uploaded; if none is selected, browsers send an empty name."""
    return any(file.filename for file in request.files.values())


def is_own(address: str | None) -> bool:
    """Return whether a URL is on this site."""
    return bool(address) and urlsplit(address).netloc == request.host


def page_before() -> str | None:
    """Return the path of the page that contains the form, or None if unknown."""
    return path_of(request.referrer) if is_own(request.referrer) else None


def path_of(address: str | None) -> str:
    """Return a URL without its origin, and without an empty query string."""
    parts = urlsplit(address or "")
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
