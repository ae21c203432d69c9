"""Who plays the matches of a championship: processes of this machine, or the workers of a hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pkgutil import resolve_name
from typing import Protocol, TypeAlias

from cw.championship.journal import Journal
from cw.championship.runner import OwnProcesses, Players, available
from cw.championship.teams import Team
from cw.cli.hub import is_missing
from cw.errors import UsageError
from cw.games.registry import load_protocol
from cw.matches.spec import SandboxPolicy

Say: TypeAlias = Callable[[str], None]


class NewPlayers(Protocol):
    """Those who play, as they are chosen by the options of a command."""

    def __call__(self, journal: Journal, teams: Sequence[Team], say: Say) -> Players:
        """Return them for a championship; `say` prints a line for people."""


@contextmanager
def chosen_players(
    jobs: int | None, sandbox: SandboxPolicy, *, queued: bool
) -> Iterator[NewPlayers]:
    """Give processes of this machine, or the workers of a hub, while the block runs.

    Raises UsageError where the hub is asked for without the extra that it needs, or for programs
    without a sandbox.
    """
    if not queued:
        yield partial(own_processes, jobs)
        return
    if is_missing():
        raise UsageError(
            '--queue needs the extra "hub": in the repository, pip install -e ".[hub]"'
        )
    if sandbox == "off":
        raise UsageError(
            "--sandbox off cannot be used with --queue: workers run programs in a sandbox"
        )
    # What the extra brings is loaded for those alone who have it.
    with resolve_name("cw.cli.hub.cup.championship:workers")(jobs) as workers:
        yield workers


def own_processes(
    jobs: int | None, journal: Journal, teams: Sequence[Team], say: Say
) -> OwnProcesses:
    """Return processes of this machine."""
    settings = journal.settings
    capacity = available(settings, jobs)
    if capacity.problem is not None and any(team.bot.kind == "exec" for team in teams):
        say(unprotected(settings.game, capacity.problem))
    return OwnProcesses(capacity.jobs)


def unprotected(game: str, problem: str) -> str:
    """Return what programs may do where nothing is between them and this machine."""
    clients = (
        "one match at a time on port 5000, and nobody's identity is enforced; "
        if "client" in load_protocol(game).transports
        else ""
    )
    return (
        f"LIMITS ONLY: {clients}programs can read your files and use your network ({problem};"
        " see `cw doctor`)"
    )
