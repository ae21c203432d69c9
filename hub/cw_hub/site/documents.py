"""The site's documents, changelog and API page; feed, sitemap and robots.txt; preview images."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    redirect,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.assets import asset as arena_asset
from cw.games.registry import game_entries
from cw.web.documents import MARKDOWN, Library, link_to, rendered
from cw.web.games import game_page
from cw_hub.assets import asset
from cw_hub.bots import service as bots_service
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.format import is_shown, latest_news
from cw_hub.competitions.home import tops
from cw_hub.matches import link_previews
from cw_hub.matches.pages import address, shown_kinds
from cw_hub.pages.layout import avatar
from cw_hub.pages.request import one_reading, resources
from cw_hub.site import request_limits
from cw_hub.site.api.description import operations_of
from cw_hub.site.formats import site_formats

routes = Blueprint("documents", __name__)

TEXTS: Final = {"blog": "CHANGELOG.md", "contribute": "CONTRIBUTING.md"}

OWN: Final = (
    ("Compete", "hub/players", "A hub for players: accounts, bots, practice, ratings."),
    ("Compete", "hub/contests", "The competitions of a hub: daily games, rated matches, cups."),
    ("Compete", "hub/tournaments", "Tournaments of teams, from the groups to the final."),
    ("Reference", "api", "Read a hub and manage bots from a program."),
    ("Reference", "hub/glossary", "The terms of a hub, one per concept."),
)
"""The shelf, the name and a summary of each document about the site."""


def install(app: Flask) -> None:
    """Add the site's documents to those of the arena."""
    library: Library = app.extensions["documents"]
    for heading, name, summary in OWN:
        path = f"docs/{name.removeprefix('hub/')}.md"
        library.add(heading, name, summary, f"hub/{path}", asset(path))


@routes.get("/blog")
def blog() -> str:
    """Show the changelog."""
    return render_template("hub/site/document.html", title="Blog", text=as_html("blog"), news=True)


@routes.get("/contribute")
def contribute() -> str:
    """Show how to contribute."""
    return render_template("hub/site/document.html", title="Contribute", text=as_html("contribute"))


@routes.get("/api")
def api() -> str:
    """Show the operations and limits of the API."""
    return render_template(
        "hub/site/api.html",
        operations=operations_of(site_formats()),
        limits=request_limits.told_of_api(),
    )


@lru_cache
def as_html(name: str) -> Markup:
    """Return a text rendered as HTML; links to other files of the project become plain text."""
    tokens = MARKDOWN.parse(arena_asset(TEXTS[name]).read_text(encoding="utf-8"))
    link_to(tokens, elsewhere)
    return rendered(tokens)


def elsewhere(target: str) -> str | None:
    """Return the URL of another site, or None for a file of this project, which has no page."""
    return target if target.startswith("https:") else None


feed_routes = Blueprint("feed", __name__)

PRIVATE: Final = ("/admin", "/api/", "/bots", "/login", "/register", "/settings")
"""Paths that search engines must not read."""

FRESH: Final = "public, max-age=60"


@feed_routes.get("/feed.atom")
def feed() -> Response:
    """Return an Atom feed with the latest news of all competitions."""
    with one_reading() as reading:
        items = latest_news(reading, site_formats())
    text = render_template("hub/site/feed.xml", items=items, address=resources().settings.address)
    return answer(text, "application/atom+xml")


@feed_routes.get("/sitemap.xml")
def sitemap() -> Response:
    """Return a sitemap with the URLs of the public pages."""
    home = resources().settings.address
    text = render_template("hub/site/sitemap.xml", pages=[f"{home}{page}" for page in pages()])
    return answer(text, "application/xml")


@feed_routes.get("/robots.txt")
def robots() -> Response:
    """Return the robots.txt with the paths that search engines must not read."""
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
        running = tops(reading, site_formats())
    yield from dict.fromkeys(top.address for top in running)


def answer(text: str, kind: str) -> Response:
    """Return a text response that is cacheable for a minute, or 304."""
    response = Response(text, content_type=f"{kind}; charset=utf-8")
    response.headers["Cache-Control"] = FRESH
    response.add_etag()
    response.make_conditional(request)
    return response


picture_routes = Blueprint("shared_pictures", __name__)

LASTS: Final = "public, max-age=300"


@picture_routes.get("/bot/<name>/picture.png")
def of_bot(name: str) -> ResponseReturnValue:
    """Redirect to the preview image of a bot's last public match, otherwise to its game's."""
    with one_reading() as reading:
        bot = bots_service.find(reading, request.args.get("game") or None, name)
        if bot is None:
            abort(404, "There is no such bot.")
        match_id = link_previews.of_bot(reading, shown_kinds(), bot.id)
    return lead_to(address(match_id, bot.game))


@picture_routes.get("/competitions/<format_name>/<slug>/picture.png")
def of_competition(format_name: str, slug: str) -> ResponseReturnValue:
    """Redirect to a competition's image, otherwise to that of its last match or its game."""
    with one_reading() as reading:
        facts = competitions_service.find(reading, format_name, slug)
        if facts is None or not is_shown(facts):
            abort(404, "There is no such competition.")
        if facts.picture is not None:
            return lead_to(avatar(facts.picture))
        match_id = link_previews.of_competition(reading, shown_kinds(), facts.id)
    return lead_to(address(match_id, facts.game))


def lead_to(place: str) -> ResponseReturnValue:
    """Return a redirect to an image."""
    answer = redirect(place, 302)
    answer.headers["Cache-Control"] = LASTS
    return answer
