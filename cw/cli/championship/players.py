"""The players of a championship: processes of this machine, or the workers of a hub."""

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
"""The group of entry points that name a context manager: given how many matches may be played at
once, or None, it gives a NewPlayers."""

Say: TypeAlias = Callable[[str], None]


class NewPlayers(Protocol):
    """Makes the players that the options of a command choose."""

    def __call__(self, journal: Journal, teams: Sequence[Team], say: Say, /) -> Players:
        """Return the players for a championship; `say` prints a line for people."""


@contextmanager
def chosen_players(
    jobs: int | None, sandbox: SandboxPolicy, *, queued: bool
) -> Iterator[NewPlayers]:
    """Yield what makes the players: processes of this machine, or the workers of a hub.

    Raises UsageError if the hub is not installed, or would run programs outside a sandbox.
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
    """Return processes of this machine; by default, each match gets two cores."""
    settings = journal.settings
    wanted = jobs or max(1, cores() // 2)
    return OwnProcesses(lanes_of(settings.game, settings.sandbox, wanted))


def warn_unprotected(game: str, sandbox: SandboxPolicy, teams: Sequence[Team]) -> None:
    """Warn of what programs of teams may do on this machine without a sandbox.

    Raises UsageError if bubblewrap is required and missing.
    """
    if not any(team.bot.kind == "exec" for team in teams):
        return
    problem = Sandbox(sandbox).problem()
    if problem is not None:
        click.echo(unprotected(game, problem), err=True)


def unprotected(game: str, problem: str) -> str:
    """Return a warning of what programs may do on this machine without a sandbox."""
    clients = (
        "one match at a time on port 5000, and nobody's identity is enforced; "
        if "client" in load_protocol(game).transports
        else ""
    )
    return (
        f"LIMITS ONLY: {clients}programs can read your files and use your network ({problem};"
        " see `cw doctor`)"
    )
