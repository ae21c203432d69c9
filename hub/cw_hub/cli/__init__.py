"""The `cw hub` command group, whose commands run and administer a site."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

import click

from cw.cli.groups import CommandEntry, LazyGroup
from cw.errors import Failure

if TYPE_CHECKING:
    from cw_hub.cli.cup import NewPlayers

COMMANDS: Final[Mapping[str, CommandEntry]] = {
    "demo": CommandEntry(
        "cw_hub.cli.serve:demo", "Run a demo hub with people, bots and matches to explore."
    ),
    "serve": CommandEntry(
        "cw_hub.cli.serve:serve", "Run the hub until Ctrl-C: its pages, matches and jobs."
    ),
    "worker": CommandEntry("cw_hub.cli.serve:worker", "Play matches until stopped."),
    "scheduler": CommandEntry(
        "cw_hub.cli.serve:scheduler", "Start what is due and run periodic jobs, until stopped."
    ),
    "player": CommandEntry(
        "cw_hub.cli.serve:player",
        "Play what a hub sends on standard input; the hub, or its service, starts it.",
    ),
    "user": CommandEntry("cw_hub.cli.site:user", "Show, lock, delete and change accounts."),
    "match": CommandEntry("cw_hub.cli.site:match", "Requeue a failed match, or cancel one."),
    "bot": CommandEntry(
        "cw_hub.cli.site:bot", "Add a web service as a bot; suspend or restore a bot."
    ),
    "token": CommandEntry(
        "cw_hub.cli.site:token", "Create, list and revoke access tokens for the API."
    ),
    "keys": CommandEntry(
        "cw_hub.cli.operation:keys",
        "Create and rotate the keys that encrypt secrets.",
    ),
    "ratings": CommandEntry(
        "cw_hub.cli.rated:ratings_group",
        "Verify or recompute the ratings of rated competitions from their matches.",
    ),
    "competition": CommandEntry(
        "cw_hub.cli.competition:competition",
        "Create, configure, pause and resume competitions.",
    ),
    "doctor": CommandEntry(
        "cw_hub.cli.operation:doctor",
        "Check whether a hub has everything it needs, and how to fix what it lacks.",
    ),
    "settings": CommandEntry(
        "cw_hub.cli.operation:settings_command",
        "Print every setting with its value and meaning.",
    ),
    "backup": CommandEntry(
        "cw_hub.cli.operation:backup_group",
        "Back up all rows of the hub into one file, while it runs.",
    ),
    "restore": CommandEntry(
        "cw_hub.cli.operation:restore_command",
        "Fill an empty database from a backup SOURCE, and verify its ratings.",
    ),
    "db": CommandEntry(
        "cw_hub.cli.operation:db", "Migrate the database to the revision of this program."
    ),
    "store": CommandEntry("cw_hub.cli.operation:store", "Create the bucket of the object store."),
}


def outage_of(error: Exception) -> str | None:
    """Return a line saying that the database does not respond, or None for another error."""
    # Imported here so that command lists and --help load no database code.
    from cw_hub.cli.options import outage  # noqa: PLC0415

    return outage(error)


def workers(jobs: int | None) -> AbstractContextManager[NewPlayers]:
    """Return a context with workers of the configured hub, for up to `jobs` concurrent matches."""
    from cw_hub.cli import cup  # noqa: PLC0415

    return cup.workers(jobs)


class HubCommands(LazyGroup):
    """The commands of `cw hub`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; raise Failure, shown as one line, if the database does not respond."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            sentence = outage_of(error)
            if sentence is None:
                raise
            raise Failure(sentence) from error


@click.group(cls=HubCommands, places=COMMANDS)
def hub() -> None:
    """Run a site where people bring bots and watch them play.

    \b
      cw hub demo        a hub with people, bots and matches to explore
      cw hub serve       your own, in one process; needs no settings

    Settings are environment variables; --set CW_NAME=VALUE overrides them. Each change by a command
    is recorded in the audit log, and the site may keep running.
    """
