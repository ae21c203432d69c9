"""The Flask application of a local workshop: its page, and the pages to which it links."""

from __future__ import annotations

from pathlib import Path

from flask import Flask, redirect, url_for
from werkzeug.wrappers import Response

from cw.server.names import HostNames
from cw.web import workshop_routes
from cw.web.app import create_app
from cw.web.live_matches import LiveMatches
from cw.web.replay_store import ReplayStore
from cw.web.settings import SiteSettings
from cw.web.workshop import OwnDesk
from cw.web.workshop_routes import Gate
from cw.workshop.project import Project


def create_workshop(project: Project, gate: Gate, replays: Path | None = None) -> Flask:
    """Return the application for one bot, protected by its gate; the caller must close its desk.

    `replays` is the folder, or the single file, with replays from whose positions the bot may be
    tried.
    """
    isolation = project.isolation
    app = create_app(
        SiteSettings(
            names=HostNames(frozenset({"127.0.0.1"})),
            owner=True,
            desk=False,
            rooms=False,
            isolation=isolation,
            replays=replays,
        )
    )
    gate.guard(app)
    matches: LiveMatches = app.extensions["matches"]
    store: ReplayStore = app.extensions["replay_store"]
    app.extensions["desk"] = OwnDesk(project, matches, replays=store)
    app.extensions["desks"] = workshop_routes.find
    app.config["HOME"] = "home"
    app.config["MAX_CONTENT_LENGTH"] = workshop_routes.LARGEST_BODY
    app.config["LARGE_BODIES"] |= {"workshop.save"}
    app.register_blueprint(workshop_routes.routes)
    app.register_blueprint(workshop_routes.run_routes)
    app.context_processor(lambda: {"workshop": project.game})

    @app.get("/")
    def home() -> Response:
        """Redirect to the workshop."""
        return redirect(url_for("workshop.page", game=project.game))

    return app
