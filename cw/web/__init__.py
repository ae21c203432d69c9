"""The pages over matches: games, live matches, replays, championship."""

from cw.web.app import create_app

__all__ = ["create_app"]
