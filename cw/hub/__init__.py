"""The hub: a site where many people meet, bring bots, and watch them play."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from flask import Blueprint, Flask

from cw.hub.pages import (
    account,
    bots,
    documents,
    errors,
    home,
    layout,
    limits,
    match,
    profile,
    ranking,
    security,
    settings,
)
from cw.hub.resources import Resources
from cw.hub.services.passwords import Passwords
from cw.hub.settings import HubSettings
from cw.server.settings import LOCAL_NAMES, is_unspecified
from cw.web import create_app
from cw.web.settings import SiteSettings

BLUEPRINTS: Final[tuple[Blueprint, ...]] = (
    home.routes,
    bots.routes,
    match.routes,
    account.routes,
    settings.routes,
    profile.routes,
    ranking.routes,
    documents.routes,
)
"""The families of pages, in addition to those of the site."""


def create_hub(resources: Resources) -> Flask:
    """Return the application: the pages of the arena, and those of the hub."""
    app = create_app(site_settings(resources.settings))
    app.extensions["hub"] = resources
    app.extensions["passwords"] = Passwords()
    app.secret_key = resources.secret_key
    app.config["HOME"] = "home.home"
    app.config["NO_SUCH_PAGE"] = "there is no such page"
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    families = tuple(blueprint.name for blueprint in BLUEPRINTS)
    layout.install(app)
    errors.install(app)
    security.install(app, resources.settings, families)
    limits.install(app, resources.settings.broker_url, families)
    return app


def site_settings(settings: HubSettings) -> SiteSettings:
    """Return how the pages of the arena are set on a hub: no game at the root."""
    named = urlsplit(settings.address).hostname or ""
    return SiteSettings(
        desk=False,
        restart=False,
        names=LOCAL_NAMES | {settings.host.lower(), named},
        any_address=is_unspecified(settings.host),
    )
