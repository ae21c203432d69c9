"""The application of the hub: the pages of the arena, and those for many people."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from flask import Blueprint, Flask

from cw.hub.jobs.checks import isolation_of
from cw.hub.online import BotsOfTeams
from cw.hub.pages import (
    account,
    actor,
    admin,
    bot_settings,
    bots,
    documents,
    errors,
    github,
    home,
    host,
    ladder,
    layout,
    leaderboard,
    limits,
    match,
    metrics,
    my_team,
    objects,
    observation,
    polls,
    profile,
    ranking,
    ready,
    security,
    settings,
    tokens,
)
from cw.hub.pages.api import routes as api
from cw.hub.resources import Resources
from cw.hub.services.passwords import Passwords
from cw.hub.settings import HubSettings
from cw.server.settings import LOCAL_NAMES, is_unspecified
from cw.web import create_app
from cw.web.settings import SiteSettings

BLUEPRINTS: Final[tuple[Blueprint, ...]] = (
    home.routes,
    leaderboard.routes,
    bots.routes,
    bot_settings.routes,
    match.routes,
    objects.routes,
    account.routes,
    settings.routes,
    tokens.routes,
    github.routes,
    profile.routes,
    ranking.routes,
    ladder.routes,
    my_team.routes,
    admin.routes,
    host.routes,
    documents.routes,
    api.routes,
    ready.routes,
    metrics.routes,
)
"""The families of pages, in addition to those of the site."""


def create_hub(resources: Resources, *, runs_programs: bool = False) -> Flask:
    """Return the application: the pages of the arena, and those of the hub.

    `runs_programs` lets people play by hand against what their teams have uploaded.
    """
    app = create_app(site_settings(resources.settings))
    app.extensions["hub"] = resources
    app.extensions["passwords"] = Passwords()
    app.extensions["own_bots"] = BotsOfTeams(resources, runs_programs)
    app.secret_key = resources.secret_key
    app.config["HOME"] = "home.home"
    app.config["NO_SUCH_PAGE"] = "there is no such page"
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    families = tuple(blueprint.name for blueprint in BLUEPRINTS)
    metrics.install(app, resources)
    observation.install(app)
    actor.install(app)
    layout.install(app)
    errors.install(app)
    security.install(app, resources.settings, families, resources.objects.origin())
    polls.install(app)
    leaderboard.install(app)
    bots.install(app)
    ladder.install(app)
    api.install(app)
    github.install(app, resources.settings)
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
        isolation=isolation_of(settings.bots_may_be),
    )
