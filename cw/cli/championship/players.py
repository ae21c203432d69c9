"""Who plays a championship's matches: local processes, or the workers of a hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, Protocol, TypeAlias

import click

from cw.arena.sandbox import Sandbox
from cw.championship.journal import Journal
from cw.championship.runner import OwnProcesses, Players, cores, lanes_of
from cw.championship.teams import Team
from cw.cli.groups import INSTALL_HUB
from cw.errors import UsageError
from cw.extensions import extension
from cw.games.registry import load_protocol
from cw.matches.spec import SandboxPolicy

GROUP: Final = "cw.players"
"""The entry point group of context managers that yield a NewPlayers.

Their argument is the maximum number of concurrent matches, or None.
"""

Say: TypeAlias = Callable[[str], None]


class NewPlayers(Protocol):
    """Creates the players that a command's options select."""

    def __call__(self, journal: Journal, teams: Sequence[Team], say: Say, /) -> Players:
        """Return the players for a championship; `say` prints a line for the user."""


@contextmanager
def chosen_players(
    jobs: int | None, sandbox: SandboxPolicy, *, queued: bool
) -> Iterator[NewPlayers]:
    """Yield a factory of players: local processes, or the workers of a hub.

    Raises UsageError if the hub is not installed, or if the sandbox is switched off for a hub,
    whose workers always run programs in one.
    """
    if not queued:
        yield partial(own_processes, jobs)
        return
    workers_of = extension(GROUP, "queue")
    if workers_of is None:
        raise UsageError(f"--queue needs a hub: in the repository, {INSTALL_HUB}")
    if sandbox == "off":
        raise UsageError(
            "--sandbox off cannot be used with --queue: workers run programs in a sandbox"
        )
    with workers_of(jobs) as workers:
        yield workers


def own_processes(
    jobs: int | None, journal: Journal, _teams: Sequence[Team], _say: Say
) -> OwnProcesses:
    """Return local processes; by default, they play one match for every two cores."""
    settings = journal.settings
    wanted = jobs or max(1, cores() // 2)
    return OwnProcesses(lanes_of(settings.game, settings.sandbox, wanted))


def warn_unprotected(game: str, sandbox: SandboxPolicy, teams: Sequence[Team]) -> None:
    """Warn of what teams' programs can do on this host without a sandbox.

    Raises UsageError if bubblewrap is required and missing.
    """
    if not any(team.bot.kind == "exec" for team in teams):
        return
    problem = Sandbox(sandbox).problem()
    if problem is not None:
        click.echo(unprotected(game, problem), err=True)


def unprotected(game: str, problem: str) -> str:
    """Return a warning of what programs can do on this host without a sandbox."""
    clients = (
        "one match at a time on port 5000, without identity checks; "
        if "client" in load_protocol(game).transports
        else ""
    )
    return (
        f"LIMITS ONLY: {clients}programs can read your files and use your network ({problem};"
        " see `cw doctor`)"
    )
