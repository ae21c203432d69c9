"""The application of the hub: the pages of the arena, and the hub's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from flask import Blueprint, Flask

from cw.server.names import HostNames
from cw.web import create_app
from cw.web.settings import SiteSettings
from cw.web.workshop import run_routes
from cw_hub.accounts import email_pages, github
from cw_hub.accounts import settings_pages as settings
from cw_hub.accounts.access import actor
from cw_hub.accounts.access.passwords import Passwords
from cw_hub.accounts.news import pages as news
from cw_hub.bots import pages as bots
from cw_hub.bots.addresses import isolation_of
from cw_hub.bots.workshop import choosing as workshop
from cw_hub.bots.workshop import desk as workshop_desk
from cw_hub.competitions.format import Format, competing, kinds_of
from cw_hub.matches import objects
from cw_hub.matches import pages as match
from cw_hub.matches.cards import pages as cards
from cw_hub.matches.challenges import pages as challenges
from cw_hub.matches.live import pages as live
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings
from cw_hub.pages import files, polls, request, security, visitors
from cw_hub.pages.queries import ShortInteger
from cw_hub.site import (
    bot_page,
    documents,
    errors,
    feed,
    game_page,
    home,
    layout,
    limits,
    profile_page,
    shared_pictures,
)
from cw_hub.site.admin import (
    bot_pages,
    competition_list,
    competition_pages,
    log_pages,
    mail_pages,
    match_pages,
    people_pages,
)
from cw_hub.site.admin import pages as admin
from cw_hub.site.api import routes as api
from cw_hub.site.formats import FORMATS
from cw_hub.site.monitoring import metrics, ready, requests

BLUEPRINTS: Final[tuple[Blueprint, ...]] = (
    home.routes,
    bot_page.routes,
    workshop.routes,
    run_routes.routes,
    match.routes,
    live.routes,
    cards.routes,
    shared_pictures.routes,
    challenges.routes,
    objects.routes,
    *email_pages.routes,
    settings.token_routes,
    news.routes,
    github.routes,
    profile_page.routes,
    admin.routes,
    competition_pages.routes,
    people_pages.routes,
    bot_pages.routes,
    competition_list.routes,
    match_pages.routes,
    mail_pages.routes,
    log_pages.routes,
    documents.routes,
    feed.routes,
    ready.routes,
    metrics.routes,
)
"""The blueprints of pages, in addition to those of the arena and of the formats."""

FOR_VISITORS: Final = ("home.home", "home.page", "leaderboard.page", "leaderboard.matches")
"""The pages that most visitors open, cached briefly."""


def create_hub(
    resources: Resources, formats: Sequence[Format] = FORMATS, *, runs_programs: bool = False
) -> Flask:
    """Return the application: the pages of the arena, and those of the hub with its formats.

    `runs_programs` lets people play by hand against their teams' uploads.
    """
    app = create_app(site_settings(resources.settings))
    app.extensions["hub"] = resources
    app.extensions["passwords"] = Passwords()
    app.extensions["visitor"] = limits.visitor
    app.extensions["desks"] = workshop_desk.desk_of
    app.extensions["runs_programs"] = runs_programs
    app.secret_key = resources.secret_key
    app.url_map.converters["int"] = ShortInteger
    app.config["HOME"] = "home.home"
    app.config["NO_SUCH_PAGE"] = "there is no such page"
    app.extensions["formats"] = formats
    pages = (family for format_ in formats for family in format_.pages)
    blueprints = (*BLUEPRINTS, api.routes_of(formats), *pages)
    for blueprint in blueprints:
        app.register_blueprint(blueprint)
    families = tuple(blueprint.name for blueprint in blueprints)
    metrics.install(app, resources)
    ready.install(app, resources)
    requests.install(app)
    request.install(app)
    files.install(app)
    layout.install(app)
    documents.install(app)
    errors.install(app)
    security.install(app, resources.settings, families, resources.objects.origin())
    visitors.install(app, actor.name, FOR_VISITORS)
    polls.install(app, actor.name)
    match.install(app, kinds_of(formats))
    live.install(app)
    objects.install(app)
    cards.install(app)
    bots.install(app, competing(formats))
    settings.install(app, profile_page.settings_cards)
    for format_ in formats:
        if format_.install is not None:
            format_.install(app)
    game_page.install(app)
    api.install(app)
    github.install(app, resources.settings)
    limits.install(app, resources.settings.broker_url)
    return app


def site_settings(settings: HubSettings) -> SiteSettings:
    """Return the settings of the arena's pages on a hub: no game at the root."""
    public = urlsplit(settings.address).hostname or settings.host
    return SiteSettings(
        desk=False,
        rooms=settings.has_rooms,
        restart=False,
        names=HostNames.of(settings.host, public, *settings.allowed_hosts),
        further_names=", or add the name to CW_ALLOWED_HOSTS to allow it",
        isolation=isolation_of(settings),
    )
