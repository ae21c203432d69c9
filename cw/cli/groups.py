"""Groups of commands that say which command was meant, and explain each in a whole sentence."""

from __future__ import annotations

from typing import Final

import click

from cw.errors import choices, short

LONGEST_SENTENCE: Final = 1000
"""Characters of a sentence about a command; what is long is wrapped, not cut."""


class HelpfulGroup(click.Group):
    """A group whose list of commands holds whole sentences."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; say which there are where there is none of that name."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(
                f"there is no command {short(name)}; {choices(name, known)}", ctx
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [
            (name, command.get_short_help_str(LONGEST_SENTENCE))
            for name, command in found.items()
            if command is not None and not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
