"""`cw hub serve`: the hub, everything in one process."""

from __future__ import annotations

from dataclasses import replace

import click

from cw.cli.hub_options import with_settings
from cw.hub import create_hub
from cw.hub.resources import opened
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
def serve(settings: HubSettings, host: str, port: int) -> None:
    """Serve the hub until Ctrl-C."""
    listener = listen(host, port)
    settings = replace(settings, host=host, port=listener.getsockname()[1])
    with opened(settings) as resources:
        click.echo(f"Hub: {address_of(listener)}/")
        click.echo("Stop with Ctrl-C.", err=True)
        run(create_hub(resources), listener)
