"""The hub's Flask application: the pages of the arena, and the hub's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from flask import Blueprint, Flask

from cw.server.names import HostNames
from cw.web import create_app
from cw.web.settings import SiteSettings
from cw_hub.accounts import actor, github
from cw_hub.accounts import settings_pages as accounts_settings_pages
from cw_hub.accounts.service import Passwords
from cw_hub.bots import pages as bots_pages
from cw_hub.bots.addresses import isolation_of
from cw_hub.competitions.format import Format, competing, match_types
from cw_hub.matches import friendly_pages, live_pages, object_links
from cw_hub.matches import pages as matches_pages
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings
from cw_hub.pages import files, polls, request, security
from cw_hub.pages.request import ShortInteger
from cw_hub.site import (
    bot_pages,
    documents,
    errors,
    home,
    monitoring,
    profile_page,
    request_limits,
    workshop_pages,
)
from cw_hub.site.admin import competition_pages
from cw_hub.site.admin import pages as admin_pages
from cw_hub.site.api import description
from cw_hub.site.formats import FORMATS

BLUEPRINTS: Final[tuple[Blueprint, ...]] = (
    home.routes,
    bot_pages.routes,
    workshop_pages.routes,
    matches_pages.routes,
    live_pages.routes,
    matches_pages.card_pages_routes,
    documents.picture_routes,
    friendly_pages.challenge_routes,
    object_links.routes,
    *accounts_settings_pages.email_pages_routes,
    accounts_settings_pages.token_routes,
    accounts_settings_pages.news_routes,
    github.routes,
    profile_page.routes,
    admin_pages.routes,
    competition_pages.routes,
    documents.routes,
    documents.feed_routes,
    monitoring.ready_routes,
    monitoring.metrics_routes,
)
"""The blueprints of pages, in addition to those of the arena and of the formats."""

FOR_VISITORS: Final = ("home.home", "home.page", "leaderboard.page", "leaderboard.matches")
"""The pages that most visitors open, cached briefly."""


def create_hub(
    resources: Resources, formats: Sequence[Format] = FORMATS, *, runs_programs: bool = False
) -> Flask:
    """Return the Flask application with the pages of the arena, the hub and its formats.

    `runs_programs` lets users play by hand against their teams' uploads.
    """
    app = create_app(site_settings(resources.settings))
    app.extensions["hub"] = resources
    app.extensions["passwords"] = Passwords()
    app.extensions["visitor"] = request_limits.visitor
    app.extensions["runs_programs"] = runs_programs
    app.secret_key = resources.secret_key
    app.url_map.converters["int"] = ShortInteger
    app.config["HOME"] = "home.home"
    app.config["NO_SUCH_PAGE"] = "there is no such page"
    app.extensions["formats"] = formats
    pages = (family for format_ in formats for family in format_.pages)
    blueprints = (*BLUEPRINTS, description.routes_of(formats), *pages)
    for blueprint in blueprints:
        app.register_blueprint(blueprint)
    families = tuple(blueprint.name for blueprint in blueprints)
    monitoring.install_metrics(app, resources)
    monitoring.install_ready(app, resources)
    monitoring.install_requests(app)
    request.install(app)
    files.install(app)
    home.install(app)
    documents.install(app)
    errors.install(app)
    security.install(app, resources.settings, families, resources.objects.origin())
    polls.install_visitors(app, actor.name, FOR_VISITORS)
    polls.install(app, actor.name)
    matches_pages.install(app, match_types(formats))
    live_pages.install(app)
    object_links.install(app)
    matches_pages.card_pages_install(app)
    bots_pages.install(app, competing(formats))
    accounts_settings_pages.install(app, profile_page.settings_cards)
    for format_ in formats:
        format_.install(app)
    bot_pages.install(app)
    description.install(app)
    github.install(app, resources.settings)
    request_limits.install(app, resources.settings.broker_url)
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
