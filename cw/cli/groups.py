"""Groups of commands that suggest the command that was meant, and describe each in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, Final, NamedTuple

import click

from cw.errors import choices, short

LONGEST_SENTENCE: Final = 1000
"""Characters of a sentence about a command; what is long is wrapped, not cut."""


GROUP: Final = "cw.commands"
"""The group of entry points that name a click command of another package."""

INSTALL_HUB: Final = 'pip install -e ".[hub]"'
"""What to type in a checkout for the commands of a hub."""


class HelpfulGroup(click.Group):
    """A group whose list of commands holds whole sentences."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; say which there are where there is none of that name."""
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
    """The first sentence of its help, which would else have to be loaded for the list."""


class LazyGroup(HelpfulGroup):
    """A group that loads a command when it is called, and none for its list of commands."""

    def __init__(self, *args: Any, places: Mapping[str, Place], **kwargs: Any) -> None:
        """Hold the places of the commands, in the order in which they are listed."""
        super().__init__(*args, **kwargs)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in their order."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        place = self.places.get(cmd_name)
        if place is None or place.where is None:
            return None
        command: click.Command = resolve_name(place.where)
        return command

    def sentences(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Return the name of each command and a sentence about it."""
        return [(name, self.places[name].sentence) for name in self.list_commands(ctx)]
