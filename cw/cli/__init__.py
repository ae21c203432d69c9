"""The `cw` command-line interface; each command is a module that is imported when called."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

import click

from cw.cli.groups import GROUP, INSTALL_HUB, CommandEntry, LazyGroup
from cw.errors import ArenaError, CapacityError, Failure, UsageError, escape_unencodable, visible
from cw.extensions import extension, extensions, source_of
from cw.interruption import INTERRUPTED, end_as_interrupted

COMMANDS: Final[Mapping[str, CommandEntry]] = {
    "demo": CommandEntry(
        "cw.cli.demo:demo", "Play a match of Circuit Wars between two clients over HTTP."
    ),
    "serve": CommandEntry("cw.cli.serve:serve", "Run the server of Circuit Wars until Ctrl-C."),
    "new-bot": CommandEntry(
        "cw.cli.new_bot:new_bot_command",
        "Copy a starter bot into the folder DIR, ready to run.",
    ),
    "workshop": CommandEntry(
        "cw.cli.workshop:workshop",
        "Write and run a bot for GAME in the browser.",
    ),
    "new-game": CommandEntry(
        "cw.cli.new_game:new_game_command",
        "Create a package with a game of your own, ready to play.",
    ),
    "test-game": CommandEntry(
        "cw.cli.game_suite:test_game",
        "Run the checks that every game must pass.",
    ),
    "step": CommandEntry("cw.cli.step:step", "Apply actions to a state by the rules of GAME."),
    "observe": CommandEntry("cw.cli.step:observe", "Show what a player of GAME sees of a state."),
    "bots": CommandEntry("cw.cli.bots:bots", "List, measure and serve the built-in strategies."),
    "play": CommandEntry(
        "cw.cli.play:play", "Play matches of GAME between bots, and write their replays."
    ),
    "check": CommandEntry(
        "cw.cli.check:check_command",
        "Test BOT with every request GAME can send.",
    ),
    "replay": CommandEntry(
        "cw.cli.replay:replay_group",
        "Show, verify and export replays, and ask bots again.",
    ),
    "simulate": CommandEntry(
        "cw.cli.simulate:simulate_command",
        "Play GAME between built-in STRATEGIES, without clocks.",
    ),
    "compare": CommandEntry(
        "cw.cli.lab.compare:compare_command",
        "Play GAME in pairs until it is clear whether NEW is stronger.",
    ),
    "league": CommandEntry(
        "cw.cli.lab.league:league_command",
        "Play and rate the bots of DIR until Ctrl-C.",
    ),
    "tune": CommandEntry(
        "cw.cli.lab.tune:tune_command",
        "Tune the numeric parameters of BOT for GAME.",
    ),
    "maps": CommandEntry("cw.cli.maps:maps", "Generate, check and show maps of GAME."),
    "championship": CommandEntry(
        "cw.cli.championship:championship", "Run contests of many teams, with tables and reports."
    ),
    "doctor": CommandEntry(
        "cw.cli.doctor:doctor", "Check whether this machine has everything the arena needs."
    ),
    "bench": CommandEntry(
        "cw.cli.bench:bench", "Measure the speed of the arena, relative to reference programs."
    ),
    "hub": CommandEntry(None, "Run a site where people bring bots and watch them play."),
    "completion": CommandEntry(
        "cw.cli.completion:completion",
        "Print the completion script for bash, zsh or fish.",
    ),
}
"""Listed in this order by `cw --help`: the order in which newcomers need them."""

MISSING: Final[Mapping[str, str]] = {"hub": INSTALL_HUB}
"""What to type in a checkout to install a missing command of another package, by its name."""


class Commands(LazyGroup):
    """The commands of `cw`, plus those that other packages add."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of our commands in their order, then those of other packages."""
        return [name for name, _ in self.sentences(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; if its package is missing, return one that says what to install."""
        command: click.Command | None = super().get_command(ctx, cmd_name)
        return command or extension(GROUP, cmd_name) or missing(cmd_name)

    def sentences(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Return each command's name and summary; other packages' commands are not loaded."""
        sentences = {name: place.sentence for name, place in self.places.items()}
        for point in extensions(GROUP):
            sentences.setdefault(point.name, f"A command of the package {source_of(point)[0]}.")
        return list(sentences.items())

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; report an ArenaError as one line: exit code 2 for wrong usage, else 1.

        Ctrl-C prints nothing: the user knows why the command ended.
        """
        try:
            return super().invoke(ctx)
        except (CapacityError, Failure) as error:
            raise click.ClickException(visible(str(error))) from None
        except ArenaError as error:
            raise click.UsageError(visible(str(error))) from None
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None


def missing(name: str) -> click.Command | None:
    """Return a command that accepts any arguments and says how to install the package it needs.

    Returns None if no known package provides it.
    """
    if name not in MISSING:
        return None

    @click.command(name, context_settings={"ignore_unknown_options": True}, add_help_option=False)
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def install(arguments: tuple[str, ...]) -> None:  # noqa: ARG001
        raise UsageError(f"cw {name} is not installed: in the repository, {MISSING[name]}")

    return install


def show_version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Print the version and exit, if requested."""
    if wanted and not context.resilient_parsing:
        from cw.version import version_line  # noqa: PLC0415

        click.echo(version_line())
        context.exit()


@click.group(
    cls=Commands, places=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=show_version,
    help="Show the version, the commit and Python, and exit.",
)
def main() -> None:
    """Play, watch and rank bots.

    \b
    First steps:
      cw demo                 watch two AIs play a match in the browser
      cw serve                the server for your own game_ai.py
      cw bots circuit-wars    the built-in opponents
      cw bots kits            starter bots for all games, in eight languages

    Results go to standard output, progress and errors to standard error. Exit codes: 0 success, 1
    failure, 2 wrong usage, 130 after Ctrl-C.
    """
    end_as_interrupted()
    escape_unencodable(sys.stdout)
