"""`cw hub serve`: the hub, everything in one process."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import replace

import click

from cw.cli.hub_options import with_settings
from cw.hub import create_hub
from cw.hub.jobs.app import CeleryQueue
from cw.hub.jobs.roles import everything, folder_locked
from cw.hub.logs import begin_log
from cw.hub.resources import make_private_folder, opened
from cw.hub.settings import HubSettings
from cw.server.wsgi import address_of, listen
from cw.server.wsgi import serve as run


@click.command()
@with_settings
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on, 0 for any.",
)
@click.option(
    "--slots",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="How many matches are played at once.",
)
@click.option("--no-worker", is_flag=True, help="Serve pages alone; others play and tick.")
def serve(settings: HubSettings, host: str, port: int, slots: int, no_worker: bool) -> None:
    """Run the hub until Ctrl-C: pages, matches, and what is done from time to time."""
    begin_log(settings)
    make_private_folder(settings.data)
    with ExitStack() as stack:
        stack.enter_context(folder_locked(settings))
        listener = listen(host, port)
        settings = replace(settings, host=host, port=listener.getsockname()[1])
        resources = stack.enter_context(opened(settings, CeleryQueue(settings)))
        app = create_hub(resources)
        if not no_worker:
            stack.enter_context(everything(resources, slots))
        click.echo(f"Hub: {address_of(listener)}/")
        click.echo("Stop with Ctrl-C.", err=True)
        run(app, listener)
    # Matches that are still played are no longer ours, and would be waited for.
    sys.stdout.flush()
    os._exit(0)
