"""Options shared by several commands."""

from __future__ import annotations

from typing import Final

import click
import msgspec

from cw.games.rules import Json

SANDBOX: Final = click.option(
    "--sandbox",
    type=click.Choice(["auto", "require", "off"]),
    default="auto",
    show_default=True,
    help="Isolate programs with bubblewrap: where it works, always, or never.",
)

VERBOSE: Final = click.option(
    "-v", "--verbose", is_flag=True, help="Describe in full how each program is isolated."
)

OPTION: Final = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the game, such as size=3; may be repeated.",
)


def read_option(text: str) -> tuple[str, Json]:
    """Read `key=value`; a value that is not JSON is a string."""
    key, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--option takes KEY=VALUE, not {text!r}")
    try:
        return key, msgspec.json.decode(value)
    except msgspec.DecodeError:
        return key, value
