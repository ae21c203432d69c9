"""The command `cw`: one file per command, loaded when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

import click

from cw import __version__
from cw.arena.processes import end_as_interrupted
from cw.cli.groups import HelpfulGroup
from cw.errors import ArenaError, CapacityError, Failure
from cw.visible import visible

COMMANDS: Mapping[str, str] = {
    "demo": "cw.cli.demo:demo",
    "serve": "cw.cli.serve:serve",
    "new-bot": "cw.cli.new_bot:new_bot_command",
    "step": "cw.cli.step:step",
    "observe": "cw.cli.step:observe",
    "bots": "cw.cli.bots:bots",
    "play": "cw.cli.play:play",
    "check": "cw.cli.check:check_command",
    "replay": "cw.cli.replays:replays",
    "simulate": "cw.cli.simulate:simulate_command",
    "maps": "cw.cli.maps:maps",
    "championship": "cw.cli.championship:championship",
    "doctor": "cw.cli.doctor:doctor",
    "bench": "cw.cli.bench:bench",
    "hub": "cw.cli.hub:hub",
}


class LazyGroup(HelpfulGroup):
    """A group that loads a command only when it is needed."""

    places: Mapping[str, str]
    """Where the commands are, in the order in which a newcomer meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in their order."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        if cmd_name not in self.places:
            return None
        command: click.Command = resolve_name(self.places[cmd_name])
        return command


class Commands(LazyGroup):
    """The commands of `cw`."""

    places = COMMANDS

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error of the arena is one line: exit code 2 for wrong usage, else 1."""
        try:
            return super().invoke(ctx)
        except (CapacityError, Failure) as error:
            raise click.ClickException(visible(str(error))) from None
        except ArenaError as error:
            raise click.UsageError(visible(str(error))) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cw")
def main() -> None:
    """Play, watch and rank bots.

    \b
    First steps:
      cw demo                 two AIs play a match, to be watched in the browser
      cw serve                the server for your own game_ai.py
      cw bots circuit-wars    the built-in opponents
      cw bots kits            bots to start from, for all games in eight languages

    Results go to standard output, progress and errors to standard error. Exit codes: 0 fine,
    1 something failed, 2 wrong usage.
    """
    end_as_interrupted()
