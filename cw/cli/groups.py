"""Click groups that suggest the intended command, list full sentences, and load commands lazily."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, Final, NamedTuple

import click

from cw.errors import choices, short

LONGEST_SENTENCE: Final = 1000
"""Maximum characters of a command's sentence in the help: long ones are wrapped, not cut."""


GROUP: Final = "cw.commands"
"""The entry point group of other packages' click commands."""

INSTALL_HUB: Final = "pip install -e . -e hub"
"""What to type in a checkout to install the hub's commands."""


class HelpfulGroup(click.Group):
    """A group whose help lists each command with a full sentence."""

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
        """Return the name and the summary sentence of each command."""
        return [
            (name, self.commands[name].get_short_help_str(LONGEST_SENTENCE))
            for name in self.list_commands(ctx)
        ]


class CommandEntry(NamedTuple):
    """Where a command is defined, and what it does."""

    where: str | None
    """The command as `module:name`; None if another package provides it."""
    sentence: str
    """The first sentence of its help, so that listing the commands need not load them."""


class LazyGroup(HelpfulGroup):
    """A group that imports a command when it is called, and none to list them."""

    def __init__(self, *args: Any, places: Mapping[str, CommandEntry], **kwargs: Any) -> None:
        """Store where the commands are defined, in the order of the list."""
        super().__init__(*args, **kwargs)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in order."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; return None if it is unknown or another package provides it."""
        place = self.places.get(cmd_name)
        if place is None or place.where is None:
            return None
        command: click.Command = resolve_name(place.where)
        return command

    def sentences(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Return the name and the summary sentence of each command."""
        return [(name, self.places[name].sentence) for name in self.list_commands(ctx)]
