"""Shows a match in the browser while it is played."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event
from typing import Protocol

import click

from cw.matches.run import OnLaunch
from cw.matches.spec import MatchResult, MatchSpec, Secrets
from cw.server.wsgi import listen, serving
from cw.web import create_app
from cw.web.live_matches import LiveMatches
from cw.web.settings import SiteSettings


class PlayInBrowser(Protocol):
    """Plays a match and opens its page."""

    def __call__(
        self, spec: MatchSpec, pace: float, secrets: Secrets, on_launch: OnLaunch
    ) -> MatchResult:
        """Return the result of the match."""


@contextmanager
def in_browser() -> Iterator[PlayInBrowser]:
    """Serve pages until Ctrl-C; yield a function that plays a match and opens its page."""
    app = create_app(SiteSettings(owner=True))
    matches: LiveMatches = app.extensions["matches"]
    with serving(app, listen("127.0.0.1", 0)) as address:

        def play(
            spec: MatchSpec, pace: float, secrets: Secrets, on_launch: OnLaunch
        ) -> MatchResult:
            match = matches.begin(spec, pace=pace, bot_secrets=secrets, on_launch=on_launch)
            page = f"{address}/matches/{match.name}"
            click.echo(f"Watch the match in the browser: {page}", err=True)
            webbrowser.open(page)
            return match.result.result()

        try:
            yield play
            click.echo("The page stays until Ctrl-C.", err=True)
            with suppress(KeyboardInterrupt):
                Event().wait()
        finally:
            matches.close()
