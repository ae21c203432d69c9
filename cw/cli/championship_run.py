"""`cw championship new`, `validate`, `run`, `resume` and `report`."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from cw.arena.bots import BotSpec
from cw.assets import asset
from cw.championship.journal import Journal, opened, save_running
from cw.championship.report import write_report
from cw.championship.runner import (
    ChampionshipSettings,
    Progress,
    Runner,
    available,
    begin,
    chosen_teams,
    settings_of,
)
from cw.championship.teams import ABOUT, CLIENT, Team, read_teams
from cw.cli.check import play as play_quietly
from cw.errors import UsageError
from cw.games.circuit_wars.strategies import STRATEGIES
from cw.league.formats import FORMATS
from cw.matches.check import first_fault
from cw.server.wsgi import listen, serving
from cw.web.championship_routes import championship_app

PLACE = click.Path(exists=True, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
EXAMPLES = ("ada", "alan", "barbara", "donald", "edsger", "grace", "ken", "margaret")
PORT = click.option(
    "--port", type=click.IntRange(0, 65535), help="Show /championship/ in the browser meanwhile."
)
STEADY = 1.0
"""Seconds between two reports while games are played."""


@click.command("new")
@click.argument("folder", type=FOLDER)
def new_command(folder: Path) -> None:
    """Make FOLDER with eight example teams: copies of game_ai.py, some of which think.

    \b
      cw championship new teams
      cw championship run teams --out results
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is there already and not empty")
    source = asset(CLIENT).read_text(encoding="utf-8")
    for number, team in enumerate(EXAMPLES):
        place = folder / team
        place.mkdir(parents=True)
        (place / CLIENT).write_text(example(source, number), encoding="utf-8")
        about = f'name = "{team.capitalize()}"\nmembers = ["{team}@example.org"]\n'
        (place / ABOUT).write_text(about, encoding="utf-8")
    click.echo(f"{len(EXAMPLES)} teams in {folder}; play them: cw championship run {folder}")


def example(source: str, number: int) -> str:
    """Return the client of an example team: every second one takes the best capture it sees."""
    if number % 2:
        return source
    dull = "    return random.choice(board.free_borders())\n"
    if dull not in source:
        raise RuntimeError(f"{CLIENT} has changed")
    return source.replace(
        dull,
        "    def worth(move: tuple[int, int, str]) -> tuple[int, float]:\n"
        "        trial = board.copy()\n"
        "        trial.add_border(*move, player)\n"
        "        return trial.get_colored()[player - 1], random.random()\n"
        "\n"
        "    return max(board.free_borders(), key=worth)\n",
    )


@click.command("validate")
@click.argument("place", metavar="DIR|TEAMS.toml", type=PLACE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a team.")
def validate_command(place: Path, as_json: bool) -> None:
    """Let every team play a game against random first, and report what is wrong.

    Exit code 1 if a team fails.
    """
    failed = 0
    for team in read_teams(place):
        problem = why_unfit(team)
        failed += problem is not None
        said = {"team": team.id, "ok": problem is None, "problem": problem}
        click.echo(json.dumps(said) if as_json else f"{team.id}: {problem or 'ok'}")
    if failed:
        raise SystemExit(1)


def why_unfit(team: Team) -> str | None:
    """Say what went wrong in a team's game against random, None if nothing did."""
    bots = [team.bot, BotSpec("random", "builtin", next(iter(STRATEGIES)))]
    played = play_quietly("circuit-wars", bots, 1, {"size": 5}, None).played
    fault = first_fault(played, team.bot)
    if fault is None:
        return None
    turn, seen = fault
    return f"turn {turn}: {seen.kind}: {seen.detail}"


@click.command("run")
@click.argument("place", metavar="DIR|TEAMS.toml", type=PLACE)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="championship",
    show_default=True,
    help="Who meets whom.",
)
@click.option(
    "--groups", type=click.IntRange(1), help="Number of groups.  [default: of 8 or fewer]"
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Seed of groups, openings and lots.",
)
@click.option(
    "--openings",
    type=click.IntRange(0, 60),
    default=0,
    show_default=True,
    help="Random segments at the start.",
)
@click.option(
    "--size",
    type=click.IntRange(1, 31),
    default=7,
    show_default=True,
    help="Squares in a row of the board.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    default=3.0,
    show_default=True,
    help="Seconds for a turn.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), help="Games at the same time.  [default: cores / 2]"
)
@click.option(
    "--out",
    type=FOLDER,
    default=Path("championship"),
    show_default=True,
    help="Folder for everything.",
)
@click.option(
    "--resume", "resuming", is_flag=True, help="Go on if OUT holds this championship already."
)
@PORT
def run_command(
    place: Path,
    form: str,
    groups: int | None,
    seed: int,
    openings: int,
    size: int,
    timeout: float,
    jobs: int | None,
    out: Path,
    resuming: bool,
    port: int | None,
) -> None:
    """Play the championship of the teams in DIR, a folder each, or of TEAMS.toml.

    A folder's name is the id by which its client must register. It holds game_ai.py, or a team.toml
    with `run = "COMMAND"`. Everything is kept in OUT: kill it at any time, and resume.

    \b
      cw championship run teams --out results
      cw championship resume results
    """
    settings = ChampionshipSettings(
        teams=tuple(team.id for team in read_teams(place)),
        place=str(place.resolve()),
        format=form,
        seed=seed,
        groups=groups,
        openings=openings,
        size=size,
        timeout=timeout,
    )
    try:
        begin(out, settings)
    except UsageError:
        if not resuming or settings_of(out) != settings:
            raise
    play(out, jobs, port)


@click.command("resume")
@click.argument("out", type=FOLDER)
@click.option(
    "--jobs", type=click.IntRange(1, 256), help="Games at the same time.  [default: cores / 2]"
)
@PORT
def resume_command(out: Path, jobs: int | None, port: int | None) -> None:
    """Go on with the championship in OUT, wherever it was stopped."""
    settings_of(out)
    play(out, jobs, port)


@click.command("report")
@click.argument("out", type=FOLDER)
def report_command(out: Path) -> None:
    """Write the report of the championship in OUT anew: HTML, Markdown, CSV and JSON."""
    settings = settings_of(out)
    with opened(out) as journal:
        for file in write_report(out / "report", journal, settings):
            click.echo(file)


def play(out: Path, jobs: int | None, port: int | None) -> None:
    """Play what is left, and write the report."""
    settings = settings_of(out)
    teams = chosen_teams(settings)
    power = available(jobs)
    console = Console(stderr=True)
    if not power.isolated:
        console.print(
            "NO WALLS between clients: one game at a time on port 5000, and nobody's identity is"
            " enforced (bubblewrap is missing or does not work; see `cw doctor`)"
        )
    with (
        opened(out) as journal,
        served(out, port, console),
        showing(console, journal, settings) as watch,
    ):
        runner = Runner(journal, settings, teams, power, watch)
        with suppress(KeyboardInterrupt):
            asyncio.run(interruptible(runner))
        write_report(out / "report", journal, settings)
        left = len(runner.open_fixtures())
    click.echo(f"{len(journal.lines)} games are over; the report: {out / 'report' / 'index.html'}")
    if left:
        click.echo(f"stopped; go on with: cw championship resume {out}")
        raise SystemExit(1)


@contextmanager
def served(out: Path, port: int | None, console: Console) -> Iterator[None]:
    """Serve the page of the championship while it is played."""
    if port is None:
        yield
        return
    with serving(championship_app(out), listen("127.0.0.1", port)) as address:
        console.print(f"Watch it in the browser: {address}/championship/")
        yield


async def interruptible(runner: Runner) -> None:
    """Run; Ctrl-C once finishes the games in flight, twice drops them."""
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
def showing(
    console: Console, journal: Journal, settings: ChampionshipSettings
) -> Iterator[Callable[[Progress], None]]:
    """Show progress, and keep the report fresh."""
    began, before = time.monotonic(), len(journal.lines)
    reported = began

    with Live(console=console, auto_refresh=False, transient=True) as live:

        def watch(progress: Progress) -> None:
            nonlocal reported
            now = time.monotonic()
            if now - reported > STEADY:
                write_report(journal.folder / "report", journal, settings)
                reported = now
            save_running(journal.folder, progress.running)
            rate = (progress.done - before) / max(now - began, 1e-9)
            live.update(picture(progress, rate, settings, journal), refresh=True)

        yield watch


def picture(
    progress: Progress, rate: float, settings: ChampionshipSettings, journal: Journal
) -> Group:
    """Draw how far it has come."""
    left = progress.waiting + len(progress.running)
    clock = f", about {left / rate / 60:.0f} min for those" if rate > 0 and left else ""
    head = Text(
        f"{progress.done} games over, {len(progress.running)} running, {left} known to be left"
        f" ({rate * 60:.1f} a minute{clock})"
    )
    games = [Text(f"  {game.first} - {game.second}  {game.stage}") for game in progress.running]
    standings = settings.contest().standings(journal.results)
    tables = [
        Text(f"{standing.name}: " + ", ".join(
            f"{row.rank}. {row.team} {row.record.wins}" for row in standing.rows[:4]))
        for standing in standings
    ]  # fmt: skip
    return Group(head, *games, *tables)
