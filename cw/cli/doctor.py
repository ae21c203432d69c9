"""`cw doctor`: checks which of the tools that the arena can use are installed on this host."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cw import __version__
from cw.arena.sandbox import bubblewrap
from cw.arena.sandbox.cgroups import sweep
from cw.arena.sandbox.measured import measured
from cw.assets import asset
from cw.cli.groups import GROUP
from cw.errors import UsageError, visible
from cw.extensions import extensions, source_of
from cw.games.registry import games_left_out, installed_games
from cw.server.wsgi import listen

PORT = 5000


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The finding about one requirement or tool."""

    name: str
    ok: bool
    needed: bool
    found: str
    advice: str = ""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> None:
    """Check whether this machine has everything the arena needs.

    Lists what is missing and how to install it, what limits programs of bots, as measured by
    programs that try to exceed it, and the games of other packages, with the reason if one cannot
    be played. Removes what killed runs have left behind. Exit code 1 if a requirement for playing
    is missing. `cw hub doctor` checks the requirements of a hub.
    """
    findings = [*needed(), *useful()]
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings]))
    else:
        Console().print(table(findings))
    if any(finding.needed and not finding.ok for finding in findings):
        raise SystemExit(1)


def needed() -> Iterator[Diagnosis]:
    """Check the requirements for playing: Python, the packages, our files, the port."""
    yield Diagnosis(
        "Python", sys.version_info >= (3, 11), True, platform.python_version(), "3.11 or newer"
    )
    for package in packages():
        yield from check_package(package)
    for name in ("static", "templates", "game_ai.py"):
        path = asset(name)
        yield Diagnosis(name, path.exists(), True, str(path), "clone the repository again")
    yield check_port()


def useful() -> Iterator[Diagnosis]:
    """Check what only some commands and tests use."""
    browsers = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, browsers)), None)
    yield Diagnosis(
        "Chromium", browser is not None, False, browser or "none", "for the browser tests"
    )
    # Sweep before starting any program here, because starting one sweeps too.
    swept = sweep()
    problem = bubblewrap.problem()
    advice = "it keeps bots away from your files and network (Linux)"
    yield Diagnosis("bubblewrap", problem is None, False, problem or "works", advice)
    for limit in () if problem else measured():
        yield Diagnosis(limit.name, bool(limit.by), False, limit.sentence, limit.advice)
    yield from check_games()
    yield from commands()
    yield Diagnosis("left behind", True, False, swept.describe() if any(swept) else "nothing")
    cores = os.cpu_count() or 1
    yield Diagnosis("cores", cores >= 2, False, str(cores), "2 or more, one for each client")


def packages() -> list[str]:
    """Return the names of the packages that the arena depends on."""
    try:
        lines = requires("circuit-wars") or []
    except PackageNotFoundError:
        return []
    return [re.split(r"[^\w.-]", line)[0] for line in lines if "extra ==" not in line]


def check_package(package: str) -> Iterator[Diagnosis]:
    """Report the version of a package, or that it is missing."""
    try:
        yield Diagnosis(package, True, True, version(package))
    except PackageNotFoundError:
        yield Diagnosis(package, False, True, "not found", f"pip install {package}")


def check_games() -> Iterator[Diagnosis]:
    """Report the games of other packages, including those that cannot be played."""
    for game in installed_games():
        yield Diagnosis(f"game {game.name}", True, False, f"{game.package} {game.version}")
    for left_out in games_left_out():
        yield Diagnosis(f"game {left_out.name}", False, False, left_out.sentence)


def commands() -> Iterator[Diagnosis]:
    """Report the commands of other packages, which check their requirements themselves."""
    for point in extensions(GROUP):
        package, version = source_of(point)
        yield Diagnosis(f"cw {point.name}", True, False, f"{package} {version}")


def check_port() -> Diagnosis:
    """Check whether the clients' port is free."""
    try:
        listen("127.0.0.1", PORT).close()
    except UsageError as error:
        return Diagnosis(f"port {PORT}", False, False, "in use", str(error))
    return Diagnosis(f"port {PORT}", True, False, "free")


def table(findings: list[Diagnosis]) -> Table:
    """Return the findings as a table."""
    grid = Table(title=f"Circuit Wars {__version__} on {platform.platform()}", title_justify="left")
    for heading in ("", "what", "found", "to do"):
        grid.add_column(heading)
    for finding in findings:
        mark = "[green]ok" if finding.ok else "[red]missing" if finding.needed else "[yellow]no"
        texts = (finding.name, finding.found, "" if finding.ok else finding.advice)
        grid.add_row(mark, *(escape(visible(text)) for text in texts))
    return grid
