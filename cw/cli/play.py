"""`cw play`: matches between bots of any kind."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from cw.arena.bots import BotSpec, read_bots
from cw.arena.launch import LaunchPolicy
from cw.arena.referee import MatchRecord, NotedFault, Watcher
from cw.arena.sandbox import Policy, Sandbox
from cw.cli.browser import in_browser
from cw.cli.pictures import picture
from cw.cli.simulate import read_option
from cw.games.registry import game_entry
from cw.games.rules import Json
from cw.matches.hosted import conduct_match
from cw.matches.run import FinishedMatch, Setup
from cw.replays import document as replay
from cw.web.live_matches import WantedMatch

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
@click.option(
    "--sandbox",
    type=click.Choice(["auto", "require", "off"]),
    default="auto",
    show_default=True,
    help="Protection from programs.",
)
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
    sandbox: Policy,
    as_json: bool,
) -> None:
    """Play matches of GAME between bots, and write their replays.

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
    arguments = read_bots(bots, settings)
    read = [bot.with_settings(arguments.secrets[bot.name]) for bot in arguments.bots]
    given = dict(map(read_option, options)) | ({} if openings is None else {"openings": openings})
    first = secrets.randbelow(2**31) if seed is None else seed
    console = Console(stderr=True)
    shown = console.is_terminal if watch is None else watch
    guard = LaunchPolicy(Sandbox(sandbox), announcer(console))
    if browser and (games > 1 or swap):
        raise click.UsageError("--browser shows one match: leave out --games and --swap")
    reports = []
    with ExitStack() as pages:
        in_page = pages.enter_context(in_browser()) if browser else None
        for number, (order, match_seed) in enumerate(series(read, games, first, swap=swap)):
            if in_page:
                finished = in_page(
                    WantedMatch(game, order, match_seed, given, delay or PACE, guard)
                )
            else:
                with watching(console, game, shown, delay) as watcher:
                    setup = Setup(watcher, None, guard)
                    finished = one_match(game, order, match_seed, given, setup)
            file = write_replay(
                finished, None if no_replay else out, number if games > 1 or swap else None
            )
            reports.append(report_of(finished, file))
            explain_faults(console, finished.played, file)
            click.echo(json.dumps(reports[-1]) if as_json else in_words(reports[-1]))
        if len(reports) > 1 and not as_json:
            click.echo(tally([bot.name for bot in read], reports))


def announcer(console: Console) -> Callable[[BotSpec, str], None]:
    """Return what says how we are protected from a program, once for each."""
    said: set[str] = set()

    def announce(bot: BotSpec, protection: str) -> None:
        if bot.name not in said:
            said.add(bot.name)
            console.print(Text(f"{bot.name}: {protection}", "dim"))

    return announce


def one_match(
    game: str,
    bots: Sequence[BotSpec],
    seed: int,
    options: Mapping[str, Json],
    setup: Setup,
) -> FinishedMatch:
    """Play a match: we call the bots, or they come to a server of ours."""
    return asyncio.run(conduct_match(game, bots, seed, options, setup))


def series(
    bots: Sequence[BotSpec], games: int, seed: int, *, swap: bool
) -> Iterator[tuple[list[BotSpec], int]]:
    """Return the bots in seat order and the seed of every match."""
    turns = len(bots) if swap else 1
    for number in range(games):
        for shift in range(turns):
            yield [*bots[shift:], *bots[:shift]], seed + number


@contextmanager
def watching(console: Console, game: str, shown: bool, delay: float) -> Iterator[Watcher | None]:
    """Show a match while it is played."""
    if not shown:
        yield None
        return
    with Live(console=console, auto_refresh=False, transient=True, screen=False) as live:

        def show(played: MatchRecord) -> None:
            live.update(scene(game, played), refresh=True)
            time.sleep(delay)

        yield show


def scene(game: str, played: MatchRecord) -> Group:
    """Draw the board, and say which turn it is and who plays."""
    frame = replay.frame_of(played.game, played.state)
    names = "  ".join(f"{player}: {bot.name}" for player, bot in played.bots.items())
    return Group(picture(game, frame), Text(f"turn {len(played.turns)}   {names}"))


def write_replay(finished: FinishedMatch, out: Path | None, number: int | None) -> Path | None:
    """Write the replay where it was asked for; None if it was not."""
    if out is None:
        return None
    game, seed = finished.replay["game"], finished.replay["seed"]
    count = "" if number is None else f"-{number + 1}"
    if out.suffix in (".json", ".gz"):
        file = out.with_name(out.name.replace(".json", f"{count}.json", 1))
    else:
        file = out / f"{game}-{seed}{count}.json.gz"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(replay.encode(finished.replay, packed=file.suffix == ".gz"))
    return file


def report_of(finished: FinishedMatch, file: Path | None) -> dict[str, Json]:
    """Sum up a match."""
    played = finished.played
    outcome = played.outcome
    if outcome is None:
        raise click.ClickException("the match ended without an outcome")
    return {
        "game": played.game.name,
        "seed": played.seed,
        "players": [
            {
                "name": bot.name,
                "rank": outcome.ranks.get(player),
                "score": outcome.scores.get(player),
                "faults": [noted.to_json() for noted in played.faults if noted.player == player],
            }
            for player, bot in played.bots.items()
        ],
        "reason": outcome.reason,
        "turns": len(played.turns),
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


def explain_faults(console: Console, played: MatchRecord, file: Path | None) -> None:
    """Say what was wrong with replies: what came, what was expected, and how to repeat it."""
    for noted in played.faults[:SHOWN_FAULTS]:
        console.print(Text(sentence(played, noted), "yellow"))
    if played.faults:
        first, name = played.faults[0], file or "FILE"
        where = f"cw replay line {name} --turn {first.turn}"
        hint = "" if file else " (FILE is what --out FILE writes)"
        console.print(f"repeat it: {where} | cw step {played.game.name}{hint}", soft_wrap=True)
        console.print(
            f"what it saw: {where} --player {first.player} | cw observe {played.game.name}",
            soft_wrap=True,
        )
    more = len(played.faults) - SHOWN_FAULTS
    if more > 0:
        console.print(Text(f"... and {more} more faults; the replay has them all", "yellow"))
    for player in dict.fromkeys(noted.player for noted in played.faults):
        said = played.stderr.get(player, "").strip()
        if said:
            console.print(Text(f"{played.bots[player].name} wrote to its error output:"))
            console.print(Text(said[-2000:], "dim"))


def sentence(played: MatchRecord, noted: NotedFault) -> str:
    """Say one fault."""
    name = played.bots[noted.player].name
    return f"turn {noted.turn}: {name}: {noted.fault.kind}: {noted.fault.detail}"
