"""What all pages of the hub share: header, footer, notices, times, flags."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from flask import Flask, flash, url_for
from markupsafe import Markup

from cw.hub.pages.actor import actor, resources
from cw.hub.pages.countries import COUNTRIES
from cw.hub.pages.times import time_element

FLAGS: Final = "vendor/flag-icons-7.5.0"
"""The folder of the flags within static/: a file for each country, named by its two letters."""

Mood: TypeAlias = Literal["good", "bad", "plain"]


def notice(words: str, mood: Mood = "good") -> None:
    """Show a notice on the next page that this browser is shown."""
    flash(words, mood)


def install(app: Flask) -> None:
    """Give the templates of an app what they share."""
    app.context_processor(shared)


def shared() -> dict[str, Any]:
    """Return what each template may use."""
    held = resources()
    return {
        "actor": actor(),
        "now": held.clock(),
        "ago": ago,
        "flag": flag,
        "avatar": avatar,
        "country_name": COUNTRIES.get,
        "site": held.settings,
    }


def ago(moment: datetime) -> Markup:
    """Return the HTML of a moment."""
    return time_element(moment, resources().clock())


def flag(country: str) -> str:
    """Return the address of the flag of a country."""
    return url_for("static", filename=f"{FLAGS}/{country.lower()}.svg")


def avatar(digest: str | None) -> str:
    """Return the address of a picture, by its SHA-256; None is for those who have chosen none."""
    if digest is None:
        return url_for("static", filename="hub/nobody.svg")
    return url_for("profile.picture", digest=digest)
