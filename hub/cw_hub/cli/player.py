"""`cw hub player`: a process that plays for a hub."""

from __future__ import annotations

import click

from cw_hub.players.process import main


@click.command()
def player() -> None:
    """Play what a hub sends on standard input; the hub, or its service, starts it.

    Reads no settings, and ends with its input.
    """
    main()
