"""Flask pages for games, live matches, replays, championships and workshops."""

from cw.web.app import create_app

__all__ = ["create_app"]
