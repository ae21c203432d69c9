"""The feed, and the site map for search engines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from flask import Blueprint, Response, current_app, render_template, request, url_for

from cw.games.registry import game_entries
from cw.web.games.game_pages import game_page
from cw_hub.competitions.home import tops
from cw_hub.competitions.news import latest
from cw_hub.pages.request import one_reading, resources
from cw_hub.site.formats import site_formats

routes = Blueprint("feed", __name__)

PRIVATE: Final = ("/admin", "/api/", "/bots", "/login", "/register", "/settings")
"""Paths closed to search engines."""

FRESH: Final = "public, max-age=60"


@routes.get("/feed.atom")
def feed() -> Response:
    """Return the latest news of all competitions."""
    sources = [format_.news for format_ in site_formats() if format_.news is not None]
    with one_reading() as reading:
        items = latest(reading, sources)
    text = render_template("hub/site/feed.xml", items=items, address=resources().settings.address)
    return answer(text, "application/atom+xml")


@routes.get("/sitemap.xml")
def sitemap() -> Response:
    """Return the addresses of the public pages."""
    home = resources().settings.address
    text = render_template("hub/site/sitemap.xml", pages=[f"{home}{page}" for page in pages()])
    return answer(text, "application/xml")


@routes.get("/robots.txt")
def robots() -> Response:
    """Return which paths search engines may read."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in PRIVATE)]
    lines.append(f"Sitemap: {resources().settings.address}{url_for('feed.sitemap')}")
    return answer("\n".join(lines) + "\n", "text/plain")


def pages() -> Iterator[str]:
    """Yield the paths of permanent pages: games, documents, competitions."""
    yield from (url_for(page) for page in ("home.home", "games.index", "docs.index"))
    for game in game_entries():
        yield url_for("games.about", game=game)
        if game_page(game).rules:
            yield url_for("games.rules", game=game)
    yield from (url_for("docs.page", name=name) for name in current_app.extensions["documents"])
    with one_reading() as reading:
        running = tops(reading, resources().clock, site_formats())
    yield from dict.fromkeys(top.address for top in running)


def answer(text: str, kind: str) -> Response:
    """Return a text cacheable for a minute, or 304."""
    response = Response(text, content_type=f"{kind}; charset=utf-8")
    response.headers["Cache-Control"] = FRESH
    response.add_etag()
    response.make_conditional(request)
    return response
