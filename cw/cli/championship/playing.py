"""Plays a championship, with progress in the terminal, on its page and in its report."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from cw.championship.config import ChampionshipSettings, chosen_teams, settings_of
from cw.championship.journal import Journal, Progress, opened
from cw.championship.report import report_of
from cw.championship.report_document import snapshot
from cw.championship.runner import Players, Runner, in_words
from cw.championship.teams import Team
from cw.cli.championship.players import NewPlayers
from cw.cli.championship.ranking_table import print_ranking
from cw.cli.championship.report import REPORT, hand_out, keep_report, write_all
from cw.errors import Failure, visible
from cw.server.wsgi import listen, serving
from cw.web.championship import championship_app

LINGER: Final = 3.0
"""Seconds to keep serving the page for browsers to show the end, if there is no terminal."""

STEADY: Final = 1.0
"""Minimum seconds between two updates of the report while matches are played."""


def play(
    out: Path, port: int | None, new_players: NewPlayers, *, with_handouts: bool = False
) -> None:
    """Play the remaining matches; write the report and, if requested, a handout for each team."""
    settings = settings_of(out)
    teams, console = chosen_teams(settings), Console(stderr=True)
    with served(out, port, console) as address:
        runner = played(out, settings, teams, new_players, console)
        is_over = conclude(out, runner)
        if with_handouts:
            hand_out(runner.journal)
        if address is not None and not runner.stopping:
            linger(address)
    if not is_over:
        raise SystemExit(1)


def played(
    out: Path,
    settings: ChampionshipSettings,
    teams: Sequence[Team],
    new_players: NewPlayers,
    console: Console,
) -> Runner:
    """Play the remaining matches, and save the results."""
    with resumable(out), opened(out, settings) as journal:
        players = new_players(journal, teams, console.print)
        with showing(console, journal) as show:
            runner = asyncio.run(session(journal, teams, players, show))
        runner.progress().save(out)
        keep_report(journal, runner.progress())
    return runner


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """Add to a Failure of this host, such as a full disk, how to continue the championship."""
    try:
        yield
    except Failure as error:
        raise Failure(
            f"{error}. All finished matches are kept; fix this, then continue with: cw "
            f"championship resume {out}"
        ) from error


def conclude(out: Path, runner: Runner) -> bool:
    """Print the result; return whether no match is left."""
    over = len(runner.journal.entries)
    settings, progress = runner.settings, runner.progress()
    report = report_of(snapshot(runner.journal), settings, progress)
    print_ranking(report.page(progress, running=False))
    click.echo(f"{over} matches finished; report: {out / REPORT / 'index.html'}")
    click.echo(f"View it with its replays: cw serve --replays {out}")
    for fixture, why in runner.failed.items():
        players = " against ".join(map(settings.name, fixture.players))
        text = f"{players} could not be played: {why}"
        click.echo(visible(text), err=True)
    for warning in report.document["warnings"]:
        click.echo(f"Warning: {visible(warning)}", err=True)
    is_over = not runner.failed and not runner.open_fixtures()
    if not is_over:
        stopped = f"{len(runner.failed)} could not be played" if runner.failed else "stopped"
        click.echo(f"{stopped}; continue with: cw championship resume {out}")
    return is_over


@contextmanager
def served(out: Path, port: int | None, console: Console) -> Iterator[str | None]:
    """Serve the championship's page, if requested; yield its URL, or None."""
    if port is None:
        yield None
        return
    with serving(championship_app(out), listen("127.0.0.1", port)) as server:
        address = f"{server}/championship/"
        console.print(f"Watch it in the browser: {address}")
        yield address


def linger(address: str) -> None:
    """Keep serving the page until a key is pressed or, without a terminal, for LINGER seconds."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        click.pause(f"The page stays at {address} until you press a key.")
    else:
        time.sleep(LINGER)


async def session(
    journal: Journal,
    teams: Sequence[Team],
    players: Players,
    show: Callable[[Progress], None],
) -> Runner:
    """Play until no match is left or the user stops it, and keep the report up to date."""
    async with reporting(journal) as report:

        def watch(progress: Progress) -> None:
            progress.save(journal.folder)
            report(progress)
            show(progress)

        runner = Runner(journal, teams, players, watch)
        await interruptible(runner)
    return runner


@asynccontextmanager
async def reporting(journal: Journal) -> AsyncIterator[Callable[[Progress], None]]:
    """Yield a progress callback that has a thread rewrite the report soon after, rate-limited."""
    stale, latest = asyncio.Event(), [Progress()]

    def note(progress: Progress) -> None:
        latest[0] = progress
        stale.set()

    async def keep_fresh() -> None:
        while await stale.wait():
            stale.clear()
            out, played = journal.folder, snapshot(journal)
            await asyncio.to_thread(write_all, out, played, journal.settings, latest[0])
            await asyncio.sleep(STEADY)

    keeping = asyncio.create_task(keep_fresh())
    try:
        yield note
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


async def interruptible(runner: Runner) -> None:
    """Run; the first Ctrl-C lets the matches in progress finish, the second one cancels them."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def interrupted() -> None:
        if runner.stopping and task is not None:
            task.cancel()
        runner.stop()

    with suppress(NotImplementedError):
        loop.add_signal_handler(signal.SIGINT, interrupted)
    with suppress(asyncio.CancelledError):
        await runner.run()


@contextmanager
def showing(console: Console, journal: Journal) -> Iterator[Callable[[Progress], None]]:
    """Yield a callback that shows the progress in the terminal."""
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show(progress: Progress) -> None:
            live.update(picture(progress, journal), refresh=True)

        yield show


def picture(progress: Progress, journal: Journal) -> Group:
    """Render the progress for the terminal."""
    left = progress.seconds_left
    clock = f", {in_words(left)} left" if left else ""
    head = Text(
        f"{progress.done} of {progress.expected} matches over, {len(progress.running)} running"
        f"{clock}"
    )
    name = journal.settings.name
    matches = [
        Text(f"  {' - '.join(map(name, match.players))}  {match.stage}")
        for match in progress.running
    ]
    tables = [
        Text(f"{standing.name}: " + ", ".join(
            f"{row.rank}. {name(row.team)} {row.record.wins}" for row in standing.rows[:4]))
        for standing in journal.settings.contest().standings(journal.results)
    ]  # fmt: skip
    return Group(head, *matches, *tables)
