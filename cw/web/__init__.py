"""Web pages for games, live matches, replays and championships."""

from cw.web.app import create_app

__all__ = ["create_app"]
