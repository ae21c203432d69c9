"""The Flask application factory: the Circuit Wars server and the pages of all games."""

from __future__ import annotations

import time
from typing import Final

from flask import Flask

from cw.errors import UsageError
from cw.server.app import NO_SUCH_PAGE, create_server
from cw.server.session import Clock
from cw.web import documents, games, live_routes, replay_routes
from cw.web.championship import add_championship, championship_around
from cw.web.documents import Library
from cw.web.live_matches import LiveMatches
from cw.web.replay_pictures import Animations, Thumbnails
from cw.web.replay_routes import Uploads
from cw.web.replay_store import ReplayFolder, ReplayStore
from cw.web.settings import SiteSettings

PAGES: Final = "; games are under /games/, replays under /replays/, documents under /docs/"


def create_app(settings: SiteSettings | None = None, clock: Clock = time.monotonic) -> Flask:
    """Return the application of a server with pages.

    Raises UsageError if a setting is out of range, or if replays would be saved into the folder of
    a championship.
    """
    settings = settings or SiteSettings()
    place, championship = settings.folder(), championship_around(settings.replays)
    if championship is not None and place is not None:
        raise UsageError(f"{championship} contains a championship: save replays in another folder")
    folder = None if place is None else ReplayFolder(place)
    keep_replay = folder.keep if folder is not None and settings.save else None
    app = create_server(settings, clock, keep_replay=keep_replay)
    app.url_map.converters["game"] = games.GameConverter
    app.url_map.converters["replay"] = replay_routes.ReplayConverter
    if championship is None:
        app.extensions["replay_store"] = ReplayStore(settings.replays)
    else:
        add_championship(app, championship)
    app.extensions["documents"] = Library()
    app.extensions["thumbnails"] = Thumbnails()
    app.extensions["animations"] = Animations(clock)
    app.extensions["matches"] = LiveMatches(settings.matches, clock, keep_replay)
    app.extensions["uploads"] = Uploads(folder) if folder and settings.uploads else None
    app.config["MAX_CONTENT_LENGTH"] = settings.largest_body()
    app.config["LARGE_BODIES"] = frozenset({"replays.save", "games.frames"})
    app.config["NO_SUCH_PAGE"] = f"{NO_SUCH_PAGE}{PAGES}"
    app.register_blueprint(games.routes)
    app.register_blueprint(documents.routes)
    app.register_blueprint(live_routes.routes)
    app.register_blueprint(replay_routes.routes)
    app.register_blueprint(replay_routes.form_routes)
    app.register_blueprint(live_routes.play_on_routes)
    app.register_blueprint(live_routes.output_routes)
    return app
