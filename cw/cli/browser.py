"""A match that is watched in the browser while it is played."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event

import click

from cw.matches.run import FinishedMatch
from cw.server.wsgi import listen, serving
from cw.web import create_app
from cw.web.live_matches import LiveMatches, WantedMatch
from cw.web.settings import SiteSettings


@contextmanager
def in_browser() -> Iterator[Callable[[WantedMatch], FinishedMatch]]:
    """Serve pages until Ctrl-C; gives what plays a match and opens its page."""
    app = create_app(SiteSettings())
    matches: LiveMatches = app.extensions["matches"]
    with serving(app, listen("127.0.0.1", 0)) as address:

        def play(wanted: WantedMatch) -> FinishedMatch:
            match = matches.begin(wanted)
            page = f"{address}/matches/{match.name}"
            click.echo(f"Watch the match in the browser: {page}", err=True)
            webbrowser.open(page)
            return match.finished.result()

        try:
            yield play
            click.echo("The page stays until Ctrl-C.", err=True)
            with suppress(KeyboardInterrupt):
                Event().wait()
        finally:
            matches.close()
