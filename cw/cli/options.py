"""Options that several commands take."""

from __future__ import annotations

from typing import Final

import click

SANDBOX: Final = click.option(
    "--sandbox",
    type=click.Choice(["auto", "require", "off"]),
    default="auto",
    show_default=True,
    help="Isolate programs with bubblewrap: where it works, always, or never.",
)
