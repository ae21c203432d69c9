"""`cw play`: plays matches between bots of any kind."""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from pkgutil import resolve_name

import click

from cw.arena.bots import read_bots
from cw.cli.options import OPTION, SANDBOX, VERBOSE, read_option
from cw.cli.output.announcements import Announcements
from cw.cli.output.match_reports import MatchReports
from cw.cli.output.results import Played
from cw.cli.output.stderr import Stderr
from cw.errors import Failure
from cw.games.registry import load_game, load_strategies
from cw.matches.progress import OnTurn
from cw.matches.run import OnLaunch, check_number, run_match
from cw.matches.spec import (
    USUAL_PATIENCE,
    Isolation,
    MatchResult,
    MatchSpec,
    SandboxPolicy,
    Secrets,
)
from cw.matches.worker import Job
from cw.matches.workers import play_at_once, series
from cw.replays import document
from cw.replays.outputs import Output, write_outputs

PACE = 0.25
"""Minimum seconds per action of a bot in the browser, unless --delay is given."""


@click.command()
@click.argument("game")
@click.argument("bots", nargs=-1, required=True, metavar="BOT...")
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="Seed of the first match; each further match uses the next one.  [default: random]",
)
@OPTION
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME.KEY=VALUE",
    help="A setting of a bot, see above; may be repeated.",
)
@click.option(
    "--games",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many matches; with --swap how many seeds.",
)
@click.option("--swap", is_flag=True, help="Play each seed once from every seat.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many matches are played at the same time; their bots compete for the cores.",
)
@click.option("--watch/--no-watch", default=None, help="Show the board.  [default: in a terminal]")
@click.option(
    "--browser",
    is_flag=True,
    help="Watch the match live in the browser; the page stays until Ctrl-C.",
)
@click.option(
    "--delay",
    type=click.FloatRange(0),
    default=0.0,
    help="Seconds to wait after each turn.  [default: 0; 0.25 with --browser]",
)
@click.option(
    "--openings",
    type=click.IntRange(0),
    help="Random moves at the start, as --option openings=K (Circuit Wars).",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("replays"),
    show_default=True,
    help="Folder for the replays, or a file that ends in .json or .json.gz.",
)
@click.option(
    "--patience",
    type=click.IntRange(0),
    default=USUAL_PATIENCE,
    show_default=True,
    help="Ask a bot in one turn of ten only after so many late answers in a row; 0: always ask it.",
)
@click.option("--no-replay", is_flag=True, help="Write no replays.")
@SANDBOX
@VERBOSE
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each match.")
def play(
    game: str,
    bots: tuple[str, ...],
    seed: int | None,
    options: tuple[str, ...],
    settings: tuple[str, ...],
    games: int,
    swap: bool,
    jobs: int,
    watch: bool | None,
    browser: bool,
    delay: float,
    openings: int | None,
    out: Path,
    patience: int,
    no_replay: bool,
    sandbox: SandboxPolicy,
    verbose: bool,
    as_json: bool,
) -> None:
    """Play matches of GAME between bots, and write their replays.

    For one match it prints who won, how and in which turn; for several, a table. A rejected reply
    is a fault; the match goes on by the rules of the game. The output names the turn, what was
    received and what was expected. Exit code 1 if a bot never played because it could not be
    started.

    \b
    A BOT is one of these; NAME= before it gives it a name:
      builtin:NAME           a built-in strategy; `cw bots GAME` lists them
      path/to/bot.py         a program (.py .js .php .rb .sh .java, or executable)
      exec:COMMAND           any command
      python:PATH[:NAME]     a class with act(view), or a function agent
      http://HOST:PORT       a web service

    Default names are `greedy`, `bot.py`, the class, or host and port; equal names are
    numbered: `greedy-1`, `greedy-2`. In Hexagon, End of Codes and Code Battle bots are web
    services: a program listens on PORT, or prints `listening on URL`, within 10 s.

    \b
    Settings for --set NAME.KEY=VALUE; env:VAR reads VALUE from VAR:
      secret, api_key, username  what the game's protocol needs
      form                       lines or http, if GAME allows both
      any other KEY              for a program: BOT_SET_KEY in its environment

    With --jobs the results, their order and the replays are the same, unless bots measure time.
    Time that a bot waits for a core counts: use at most as many jobs as there are cores, and
    fewer if bots use several threads or think up to their deadline.

    \b
      cw play paint builtin:greedy mine=./bot.py
      cw play hexagon builtin:greedy http://127.0.0.1:3000 --games 10 --swap
      cw play code-battle builtin:hunter builtin:rusher --browser
    """
    strategies = load_strategies(game)
    if browser and (games > 1 or swap):
        raise click.UsageError("--browser shows one match: leave out --games and --swap")
    arguments = read_bots(bots, settings, strategies)
    check_number(game, load_game(game).rules.seats, len(arguments.bots))
    rules_options = dict(map(read_option, options)) | (
        {} if openings is None else {"openings": openings}
    )
    first = secrets.randbelow(2**31) if seed is None else seed
    spec_template = MatchSpec(
        "play",
        game,
        tuple(arguments.bots),
        first,
        rules_options,
        isolation=Isolation(sandbox),
        patience=patience,
    )
    specs = list(series(spec_template, games, swap=swap))
    if watch and min(jobs, len(specs)) > 1:
        raise click.UsageError("--watch shows one match at a time: leave out --jobs")
    watched = sys.stderr.isatty() if watch is None else watch
    keep = keeper(specs, None if no_replay else out)
    stderr = Stderr()
    reports = MatchReports(stderr, len(specs), as_json=as_json)
    announcements = Announcements(stderr, verbose=verbose)
    if min(jobs, len(specs)) > 1:
        match_jobs = [Job(spec, arguments.secrets) for spec in specs]
        playing = play_at_once(match_jobs, jobs, keep, reports.match, announcements)
        announcements.tell(asyncio.run(playing))
    elif browser:
        with resolve_name("cw.cli.output.browser:in_browser")() as in_page:
            result = in_page(specs[0], delay or PACE, arguments.secrets, announcements)
            reports.match(keep(0, result))
    else:
        for number, spec in enumerate(specs):
            with watching(stderr, watched, delay) as on_turn:
                result = play_match(spec, on_turn, announcements, arguments.secrets)
            reports.match(keep(number, result))
    reports.end()
    if reports.absent:
        raise SystemExit(1)


def keeper(specs: Sequence[MatchSpec], out: Path | None) -> Callable[[int, MatchResult], Played]:
    """Return a function that saves the replay of a finished match, if requested."""

    def keep(number: int, result: MatchResult) -> Played:
        file = write_replay(result, out, number if len(specs) > 1 else None)
        return Played(specs[number], result, file)

    return keep


def play_match(
    spec: MatchSpec, on_turn: OnTurn, on_launch: OnLaunch, bot_secrets: Secrets
) -> MatchResult:
    """Play a match and return its result."""
    return asyncio.run(run_match(spec, on_turn=on_turn, on_launch=on_launch, secrets=bot_secrets))


def watching(stderr: Stderr, visible_turns: bool, delay: float) -> AbstractContextManager[OnTurn]:
    """Show a match in the terminal during the block, if requested."""
    if not visible_turns:
        return nullcontext(lambda _: None)
    watched: AbstractContextManager[OnTurn] = resolve_name("cw.cli.output.watching:watching")(
        stderr.console, delay
    )
    return watched


def write_replay(result: MatchResult, out: Path | None, number: int | None) -> Path | None:
    """Write the replay and return its path; None if no replay was requested."""
    if out is None:
        return None
    game, seed = result.replay["game"], result.replay["seed"]
    count = "" if number is None else f"-{number + 1}"
    if out.suffix in (".json", ".gz"):
        file = out.with_name(out.name.replace(".json", f"{count}.json", 1))
    else:
        file = out / f"{game}-{seed}{count}.json.gz"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(document.encode(result.replay, packed=file.suffix == ".gz"))
        write_outputs(file, list(map(Output, result.stderr, result.stderr_turns)))
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror}") from None
    return file
