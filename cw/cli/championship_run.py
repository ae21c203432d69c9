"""`cw championship run`, `resume` and `report`."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Final, Protocol, TypeAlias

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from cw.championship.config import ChampionshipSettings, begin, chosen_teams, settings_of
from cw.championship.journal import Journal, Progress, load_progress, opened
from cw.championship.pace import in_words
from cw.championship.report import write_report
from cw.championship.report_document import Played, never_started, snapshot
from cw.championship.runner import OwnProcesses, Players, Runner, available
from cw.championship.teams import Team, read_teams
from cw.cli.championship_teams import FOLDER, GAME, OPTION, PLACE
from cw.cli.hub import is_missing
from cw.cli.options import SANDBOX
from cw.cli.simulate import read_option
from cw.errors import Failure, UsageError
from cw.games.registry import load_protocol
from cw.games.rules import Json
from cw.league.formats import FORMATS
from cw.matches.spec import SandboxPolicy
from cw.server.wsgi import listen, serving
from cw.visible import visible
from cw.web.championship_routes import championship_app
from cw.web.report_replays import write_replay_pages

PORT = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Show /championship/ in the browser during the run.",
)
JOBS = click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    help="Matches at the same time.  [default: cores / 2; 256 by --queue]",
)
QUEUE = click.option(
    "--queue",
    "queued",
    is_flag=True,
    help="Let the workers of a hub play, on any number of machines.",
)
Say: TypeAlias = Callable[[str], None]
CIRCUIT_WARS: Final = {"size": 7, "timeout": 3.0, "openings": 0}
"""What is played in Circuit Wars by default."""

REPORT: Final = "report"
LINGER: Final = 3.0
"""Seconds that the page stays for browsers to show the end, where nobody is at the terminal."""

STEADY: Final = 1.0
"""Seconds between two reports while matches are played."""


@click.command("run")
@click.argument("place", metavar="DIR|TEAMS.toml", type=PLACE)
@GAME
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
    "--players",
    type=click.IntRange(3),
    help="Players of a match in a free-for-all.  [default: all teams]",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    help="Rounds of a free-for-all.  [default: as many as players, 10 at most]",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Seed of groups, line-ups, matches and lots.",
)
@OPTION
@click.option(
    "--openings",
    type=click.IntRange(0, 60),
    help="Random moves at the start, for a game that has them.  [default: 0]",
)
@click.option(
    "--size",
    type=click.IntRange(1, 31),
    help="Squares in a row, for a game that has it.  [Circuit Wars: 7]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    help="Seconds for a turn, for a game that has it.  [Circuit Wars: 3]",
)
@SANDBOX
@JOBS
@click.option(
    "--out",
    type=FOLDER,
    default=Path("championship"),
    show_default=True,
    help="Output folder.",
)
@click.option(
    "--resume", "resuming", is_flag=True, help="Continue if OUT already holds this championship."
)
@PORT
@QUEUE
def run_command(
    place: Path,
    game: str,
    form: str,
    groups: int | None,
    players: int | None,
    rounds: int | None,
    seed: int,
    options: tuple[str, ...],
    openings: int | None,
    size: int | None,
    timeout: float | None,
    sandbox: SandboxPolicy,
    jobs: int | None,
    out: Path,
    resuming: bool,
    port: int | None,
    queued: bool,
) -> None:
    """Play the championship of the teams in DIR, a folder each, or of TEAMS.toml.

    A folder's name is the id of its team. It holds a program (game_ai.py in Circuit Wars, else
    bot.py, bot.js, ...), or a team.toml with `run = "COMMAND"` or `bot = "ARGUMENT"`. Everything is
    kept in OUT: kill it at any time, and resume.

    \b
      cw championship run teams --out results
      cw championship resume results
      cw championship run teams.toml --game hexagon --format swiss
      cw championship run painters --game paint --format free-for-all --players 4 --rounds 12

    By --queue matches are played by the workers of the hub that the environment names by
    CW_DATABASE_URL, CW_BROKER_URL and so on (docs/hub.md); results and report are the same.
    """
    own = {"openings": openings, "size": size, "timeout": timeout}
    given = {name: value for name, value in own.items() if value is not None}
    given |= dict(map(read_option, options))
    settings = ChampionshipSettings(
        teams=tuple(team.id for team in read_teams(place, game)),
        place=str(place.resolve()),
        game=game,
        format=form,
        seed=seed,
        groups=groups,
        players=players,
        rounds=rounds,
        options=chosen_options(game, given),
        sandbox=sandbox,
    )
    with chosen_players(jobs, sandbox, queued=queued) as new_players:
        try:
            begin(out, settings)
        except UsageError:
            if not resuming or settings_of(out) != settings:
                raise
        play(out, port, new_players)


def chosen_options(game: str, given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the options of a game with its usual ones."""
    if game != "circuit-wars":
        return dict(given)
    chosen = {**CIRCUIT_WARS, **given}
    return chosen | {"openings": min(chosen["openings"], chosen["size"] ** 2)}


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


@click.command("resume")
@click.argument("out", type=FOLDER)
@JOBS
@PORT
@QUEUE
def resume_command(out: Path, jobs: int | None, port: int | None, queued: bool) -> None:
    """Continue the championship in OUT from where it was stopped."""
    sandbox = settings_of(out).sandbox
    with chosen_players(jobs, sandbox, queued=queued) as new_players:
        play(out, port, new_players)


@click.command("report")
@click.argument("out", type=FOLDER)
def report_command(out: Path) -> None:
    """Write the report of the championship in OUT again, as HTML, Markdown, CSV and JSON."""
    settings = settings_of(out)
    with opened(out, settings) as journal:
        for file in keep_report(journal, load_progress(out)):
            click.echo(file)


def keep_report(journal: Journal, progress: Progress) -> list[Path]:
    """Write the report of the matches that are over, and the pages of their replays."""
    return write_all(journal.folder, snapshot(journal), journal.settings, progress)


def write_all(
    out: Path, played: Played, settings: ChampionshipSettings, progress: Progress
) -> list[Path]:
    """Write what the folder of a report holds, and return the files of the report."""
    write_replay_pages(out, out / REPORT)
    return write_report(out / REPORT, played, settings, progress)


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
        raise UsageError('--queue needs the extra "hub": in the repository, pip install ".[hub]"')
    if sandbox == "off":
        raise UsageError("--sandbox off goes without --queue: workers run programs in a sandbox")
    # What the extra brings is loaded for those alone who have it.
    with resolve_name("cw.cli.hub_championship:workers")(jobs) as workers:
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


def play(out: Path, port: int | None, new_players: NewPlayers) -> None:
    """Play what is left, and write the report."""
    settings = settings_of(out)
    teams, console = chosen_teams(settings), Console(stderr=True)
    with served(out, port, console) as address:
        runner = played(out, settings, teams, new_players, console)
        is_over = conclude(out, runner)
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
    """Play what is left, and write down all that came of it."""
    with resumable(out), opened(out, settings) as journal:
        players = new_players(journal, teams, console.print)
        with showing(console, journal) as show:
            runner = asyncio.run(session(journal, teams, players, show))
        runner.progress().save(out)
        keep_report(journal, runner.progress())
    return runner


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """Say how to go on where this machine fails: its disk is full, or no process can be started."""
    try:
        yield
    except Failure as error:
        raise Failure(
            f"{error}. Nothing that was over is lost; when this is mended, go on with:"
            f" cw championship resume {out}"
        ) from error


def conclude(out: Path, runner: Runner) -> bool:
    """Say what has come of it; return whether no match is left."""
    over = len(runner.journal.entries)
    click.echo(f"{over} matches are over; the report: {out / REPORT / 'index.html'}")
    click.echo(f"Show it with its replays: cw serve --replays {out}")
    for fixture, why in runner.failed.items():
        said = f"{' against '.join(fixture.players)} could not be played: {why}"
        click.echo(visible(said), err=True)
    for warning in (*runner.warnings(), *never_started(snapshot(runner.journal))):
        click.echo(f"Warning: {visible(warning)}", err=True)
    is_over = not runner.failed and not runner.open_fixtures()
    if not is_over:
        stopped = f"{len(runner.failed)} could not be played" if runner.failed else "stopped"
        click.echo(f"{stopped}; go on with: cw championship resume {out}")
    return is_over


@contextmanager
def served(out: Path, port: int | None, console: Console) -> Iterator[str | None]:
    """Serve the page of the championship, if that is asked for; gives its address."""
    if port is None:
        yield None
        return
    with serving(championship_app(out), listen("127.0.0.1", port)) as server:
        address = f"{server}/championship/"
        console.print(f"Watch it in the browser: {address}")
        yield address


def linger(address: str) -> None:
    """Keep a page until a key is pressed; where nobody can, until browsers have seen the end."""
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
    """Play until nothing is left or somebody stops it, and keep the report fresh."""
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
    """Write the report in a thread, soon after there is something new, and not all the time."""
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
    """Run; Ctrl-C once finishes the matches in flight, twice drops them."""
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
    """Show how far it has come."""
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show(progress: Progress) -> None:
            live.update(picture(progress, journal), refresh=True)

        yield show


def picture(progress: Progress, journal: Journal) -> Group:
    """Draw how far it has come."""
    left = progress.seconds_left
    clock = f", {in_words(left)} left" if left else ""
    head = Text(
        f"{progress.done} of {progress.expected} matches over, {len(progress.running)} running"
        f"{clock}"
    )
    matches = [Text(f"  {' - '.join(match.players)}  {match.stage}") for match in progress.running]
    tables = [
        Text(f"{standing.name}: " + ", ".join(
            f"{row.rank}. {row.team} {row.record.wins}" for row in standing.rows[:4]))
        for standing in journal.settings.contest().standings(journal.results)
    ]  # fmt: skip
    return Group(head, *matches, *tables)
