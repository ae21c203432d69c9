"""Groups of commands that suggest the intended command, and describe each in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, Final, NamedTuple

import click

from cw.errors import choices, short

LONGEST_SENTENCE: Final = 1000
"""Most characters of a sentence about a command; long ones are wrapped, not cut."""


GROUP: Final = "cw.commands"
"""The group of entry points that name a click command of another package."""

INSTALL_HUB: Final = "pip install -e . -e hub"
"""What to type in a checkout for the commands of a hub."""


class HelpfulGroup(click.Group):
    """A group whose list of commands has whole sentences."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; raise a UsageError with the alternatives if there is none."""
        name = args[0]
        is_option = name.startswith("-")
        if not is_option and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            names = self.list_commands(ctx)
            raise click.UsageError(
                f"there is no command {short(name)}; {choices(name, names)}", ctx
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(self.sentences(ctx))

    def sentences(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Return the name of each command and a sentence about it."""
        return [
            (name, self.commands[name].get_short_help_str(LONGEST_SENTENCE))
            for name in self.list_commands(ctx)
        ]


class Place(NamedTuple):
    """Where a command is, and what it does."""

    where: str | None
    """The command as `module:name`; None if another package has it."""
    sentence: str
    """The first sentence of its help; otherwise the list would have to load the command."""


class LazyGroup(HelpfulGroup):
    """A group that loads a command when it is called, and none to list them."""

    def __init__(self, *args: Any, places: Mapping[str, Place], **kwargs: Any) -> None:
        """Store the places of the commands, in the order of the list."""
        super().__init__(*args, **kwargs)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in order."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; return None if there is none of that name."""
        place = self.places.get(cmd_name)
        if place is None or place.where is None:
            return None
        command: click.Command = resolve_name(place.where)
        return command

    def sentences(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Return the name of each command and a sentence about it."""
        return [(name, self.places[name].sentence) for name in self.list_commands(ctx)]
