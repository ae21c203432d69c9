"""`cw bots`: the built-in opponents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from cw.cli.groups import CommandEntry, LazyGroup
from cw.errors import UsageError, choices, short
from cw.games.registry import game_entries

COMMANDS: Final[Mapping[str, CommandEntry]] = {
    "join": CommandEntry(
        "cw.cli.bots.join:join", "Let the strategy NAME play on the Circuit Wars server at URL."
    ),
    "kits": CommandEntry(
        "cw.cli.bots.kits:kits",
        "List the starter bots, and what this machine lacks to run them.",
    ),
    "list": CommandEntry(
        "cw.cli.bots.list:list_bots",
        "List the built-in strategies of GAME, or of all games, weakest first.",
    ),
    "serve": CommandEntry(
        "cw.cli.bots.serve:serve", "Serve the strategy NAME as a bot of GAME, until Ctrl-C."
    ),
}


def refuse_unknown(name: str) -> None:
    """Raise UsageError if a name is neither a game nor a subcommand of `cw bots`."""
    names = [*game_entries(), *COMMANDS]
    if name not in names:
        raise UsageError(f"there is no game or command {short(name)}; {choices(name, names)}")


class Listing(LazyGroup):
    """A group that runs `list` if called without arguments or with the name of a game."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert `list` unless a subcommand is named."""
        if not args or (args[0] not in COMMANDS and args[0] not in ctx.help_option_names):
            for name in (name for name in args[:1] if not name.startswith("-")):
                refuse_unknown(name)
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=Listing, places=COMMANDS)
def bots() -> None:
    """List, measure and serve the built-in strategies.

    Use them as builtin:NAME wherever a command takes a bot.

    \b
      cw bots circuit-wars
      cw bots circuit-wars --measure --pair expert search --games 40
      cw bots serve hexagon greedy --port 3000
      cw bots join http://127.0.0.1:5000 greedy

    `cw bots kits` lists starter bots for your own.
    """
