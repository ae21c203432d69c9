"""`cw play`: matches between bots of any kind."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
import msgspec
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from cw.arena.bots import BotSpec, read_bots
from cw.arena.referee import MatchRecord
from cw.cli.browser import in_browser
from cw.cli.options import SANDBOX
from cw.cli.simulate import read_option
from cw.errors import Failure
from cw.games.registry import game_entry, load_terminal
from cw.games.rules import Json
from cw.matches.run import MatchProgress, OnLaunch, OnTurn, run_match
from cw.matches.spec import (
    Isolation,
    MatchFault,
    MatchResult,
    MatchSpec,
    SandboxPolicy,
    Secrets,
)
from cw.matches.verdict import never_played, verdict
from cw.replays import document as replay
from cw.visible import visible

PACE = 0.25
"""Seconds that every action of a bot takes at least in the browser, if nothing else is said."""

SHOWN_FAULTS = 20
"""Faults that are told one by one; what comes later is only counted."""


@click.command()
@click.argument("game")
@click.argument("bots", nargs=-1, required=True, metavar="BOT...")
@click.option("--seed", type=click.IntRange(0), help="Seed of the first match.  [default: drawn]")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="Option of the game.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME.KEY=VALUE", help="Setting of a bot."
)
@click.option("--games", type=click.IntRange(1), default=1, show_default=True, help="How many.")
@click.option("--swap", is_flag=True, help="Play each seed once from every seat.")
@click.option("--watch/--no-watch", default=None, help="Show the board.  [default: in a terminal]")
@click.option("--browser", is_flag=True, help="Watch the match in the browser.")
@click.option("--delay", type=click.FloatRange(0), default=0.0, help="Seconds after each turn.")
@click.option("--openings", type=click.IntRange(0), help="Random moves first (Circuit Wars).")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("replays"),
    show_default=True,
    help="File or folder for the replay.",
)
@click.option("--no-replay", is_flag=True, help="Write no replay.")
@SANDBOX
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a match.")
def play(
    game: str,
    bots: tuple[str, ...],
    seed: int | None,
    options: tuple[str, ...],
    settings: tuple[str, ...],
    games: int,
    swap: bool,
    watch: bool | None,
    browser: bool,
    delay: float,
    openings: int | None,
    out: Path,
    no_replay: bool,
    sandbox: SandboxPolicy,
    as_json: bool,
) -> None:
    """Play matches of GAME between bots, and write their replays.

    Exit code 1 if a bot never played because it could not be started.

    \b
    A BOT is one of these, with NAME= before it if it shall be named:
      builtin:NAME           a built-in strategy; `cw bots GAME` lists them
      path/to/bot.py         a program (.py .js .php .rb .sh .java, or executable)
      exec:COMMAND           any command
      python:PATH[:Class]    a class with act(view) -> action, in a process of its own
      http://HOST:PORT       a web service

    \b
      cw play paint builtin:greedy mine=./bot.py
      cw play hexagon builtin:greedy http://127.0.0.1:3000 --games 10 --swap --json
      cw play code-battle builtin:hunter builtin:rusher --browser
    """
    game_entry(game)
    if browser and (games > 1 or swap):
        raise click.UsageError("--browser shows one match: leave out --games and --swap")
    read = read_bots(bots, settings)
    given = dict(map(read_option, options)) | ({} if openings is None else {"openings": openings})
    first = secrets.randbelow(2**31) if seed is None else seed
    console = Console(stderr=True)
    shown = console.is_terminal if watch is None else watch
    one = MatchSpec("play", game, tuple(read.bots), first, given, isolation=Isolation(sandbox))
    specs = list(series(one, games, swap=swap))
    reports = []
    absent = False
    with ExitStack() as pages:
        in_page = pages.enter_context(in_browser()) if browser else None
        for number, spec in enumerate(specs):
            if in_page:
                result = in_page(spec, delay or PACE, read.secrets, announcer(console))
            else:
                with watching(console, shown, delay) as on_turn:
                    announce = announcer(console)
                    result = play_match(spec, on_turn, announce, read.secrets)
            file = write_replay(
                result, None if no_replay else out, number if len(specs) > 1 else None
            )
            reports.append(report_of(spec, result, file))
            explain_faults(console, spec, result, file)
            absent = absent or bool(never_played(result))
            click.echo(json.dumps(reports[-1]) if as_json else visible(in_words(reports[-1])))
        if len(reports) > 1 and not as_json:
            click.echo(tally([bot.name for bot in read.bots], reports))
    if absent:
        raise SystemExit(1)


def announcer(console: Console) -> OnLaunch:
    """Return what says how we are protected from a program, once for each."""
    said: set[str] = set()

    def announce(bot: BotSpec, protection: str) -> None:
        if bot.name not in said:
            said.add(bot.name)
            console.print(Text(visible(f"{bot.name}: {protection}"), "dim"))

    return announce


def play_match(
    spec: MatchSpec, on_turn: OnTurn, on_launch: OnLaunch, bot_secrets: Secrets
) -> MatchResult:
    """Play a match and return its result."""
    return asyncio.run(run_match(spec, on_turn=on_turn, on_launch=on_launch, secrets=bot_secrets))


def series(spec: MatchSpec, games: int, *, swap: bool) -> Iterator[MatchSpec]:
    """Yield the matches that are asked for: each seed once, or once from every seat."""
    bots = spec.bots
    for number in range(games):
        for shift in range(len(bots) if swap else 1):
            order = (*bots[shift:], *bots[:shift])
            yield msgspec.structs.replace(
                spec, id=f"{spec.id}-{number}-{shift}", bots=order, seed=spec.seed + number
            )


@contextmanager
def watching(console: Console, shown: bool, delay: float) -> Iterator[OnTurn]:
    """Show a match while it is played."""
    if not shown:
        yield lambda _: None
        return
    with Live(console=console, auto_refresh=False, transient=True, screen=False) as live:

        def show(progress: MatchProgress) -> None:
            live.update(scene(progress.record), refresh=True)
            time.sleep(delay)

        yield show


def scene(record: MatchRecord) -> Group:
    """Draw the board, and say which turn it is and who plays."""
    frame = replay.frame_of(record.game, record.state)
    names = "  ".join(f"{player}: {bot.name}" for player, bot in record.bots.items())
    return Group(
        load_terminal(record.game.name)(frame), Text(f"turn {len(record.turns)}   {names}")
    )


def write_replay(result: MatchResult, out: Path | None, number: int | None) -> Path | None:
    """Write the replay where it was asked for; None if it was not."""
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
        file.write_bytes(replay.encode(result.replay, packed=file.suffix == ".gz"))
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror}") from None
    return file


def report_of(spec: MatchSpec, result: MatchResult, file: Path | None) -> dict[str, Json]:
    """Sum up a match."""
    return {
        "game": spec.game,
        "seed": spec.seed,
        "players": [
            {
                "name": bot.name,
                "rank": result.ranks[number],
                "score": result.scores[number],
                "faults": [fault.to_json() for fault in result.faults_of(number)],
            }
            for number, bot in enumerate(spec.bots)
        ],
        "reason": result.reason,
        "verdict": verdict(spec, result),
        "turns": result.turns,
        "replay": None if file is None else str(file),
    }


def in_words(report: Mapping[str, Json]) -> str:
    """Say a result in lines."""
    lines = [f"{report['game']}, seed {report['seed']}: {report['reason']}, turn {report['turns']}"]
    ranked = sorted(report["players"], key=lambda player: player["rank"] or 10**6)
    for player in ranked:
        faults = len(player["faults"])
        suffix = f"   ({faults} faults)" if faults else ""
        rank = "-" if player["rank"] is None else player["rank"]
        lines.append(f"  {rank}. {player['name']:<16} {player['score']}{suffix}")
    lines.append(f"  {report['verdict']}")
    if report["replay"]:
        lines.append(f"  replay: {report['replay']}")
    return "\n".join(lines)


def tally(names: Sequence[str], reports: Sequence[Mapping[str, Json]]) -> str:
    """Say who has won how many of several matches; who shares the first rank has not won."""
    won = Counter(winner_of(report) for report in reports)
    return f"{len(reports)} matches: {', '.join(f'{name} won {won[name]}' for name in names)}"


def winner_of(report: Mapping[str, Json]) -> str | None:
    """Name the only bot of the first rank, if there is one."""
    first = [player["name"] for player in report["players"] if player["rank"] == 1]
    return first[0] if len(first) == 1 else None


def explain_faults(
    console: Console, spec: MatchSpec, result: MatchResult, file: Path | None
) -> None:
    """Say what was wrong with replies: what came, what was expected, and how to repeat it."""
    for fault in result.faults[:SHOWN_FAULTS]:
        console.print(Text(visible(sentence(spec, fault)), "yellow"))
    if result.faults:
        first, name = result.faults[0], file or "FILE"
        where = f"cw replay line {name} --turn {first.turn}"
        hint = "" if file else " (FILE is what --out FILE writes)"
        for line in (
            f"repeat it: {where} | cw step {spec.game}{hint}",
            f"what it saw: {where} --player {first.player} | cw observe {spec.game}",
        ):
            console.print(Text(visible(line)), soft_wrap=True)
    more = len(result.faults) - SHOWN_FAULTS
    if more > 0:
        console.print(Text(f"... and {more} more faults; the replay has them all", "yellow"))
    for number in dict.fromkeys(fault.bot for fault in result.faults):
        said = result.stderr[number].strip()
        if said and not any(said in fault.detail for fault in result.faults_of(number)):
            console.print(Text(visible(f"{spec.bots[number].name} wrote to its error output:")))
            console.print(Text(visible(said[-2000:]), "dim"))


def sentence(spec: MatchSpec, fault: MatchFault) -> str:
    """Say one fault."""
    return f"turn {fault.turn}: {spec.bots[fault.bot].name}: {fault.kind}: {fault.detail}"
