"""`cw championship new` and `validate`: the teams before they play."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import count, cycle, islice
from pathlib import Path
from typing import Final

import click

from cw import kits
from cw.arena.bots import BotSpec
from cw.arena.sandbox import Sandbox
from cw.assets import asset
from cw.championship.teams import ABOUT, CLIENT, Team, UnfitTeam, read_each
from cw.cli.options import SANDBOX
from cw.cli.simulate import read_option
from cw.errors import UsageError
from cw.files import make_folder
from cw.games.registry import game_entry, load_game, load_strategies
from cw.games.rules import Json
from cw.matches.spec import Isolation, MatchSpec, SandboxPolicy
from cw.matches.worker import Job
from cw.matches.workers import MatchFailure, Workers
from cw.visible import visible

PLACE: Final = click.Path(exists=True, path_type=Path)
FOLDER: Final = click.Path(file_okay=False, path_type=Path)
RANDOM: Final = "random"
EXAMPLES: Final = ("ada", "alan", "barbara", "donald", "edsger", "grace", "ken", "margaret")
GAME = click.option("--game", default="circuit-wars", show_default=True, help="The game.")
OPTION = click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="Option of the game."
)


@click.command("new")
@click.argument("folder", type=FOLDER)
@GAME
def new_command(folder: Path, game: str) -> None:
    """Make FOLDER with eight example teams, in the languages that this machine has.

    Those of Circuit Wars are copies of game_ai.py, some of which think.

    \b
      cw championship new teams
      cw championship run teams --out results
      cw championship new painters --game paint
    """
    game_entry(game)
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is there already and not empty")
    for number, team in enumerate(EXAMPLES):
        place = folder / team
        make_folder(place)
        about = f'name = "{team.capitalize()}"\nmembers = ["{team}@example.org"]\n'
        about += make_example(game, place, number)
        (place / ABOUT).write_text(about, encoding="utf-8")
    said = "" if game == "circuit-wars" else f" --game {game}"
    click.echo(f"{len(EXAMPLES)} teams in {folder}; play them: cw championship run {folder}{said}")


def make_example(game: str, place: Path, number: int) -> str:
    """Put the program of an example team into its folder; return what team.toml says besides.

    A game without kits has teams of its built-in strategies.
    """
    if game == "circuit-wars":
        source = asset(CLIENT).read_text(encoding="utf-8")
        (place / CLIENT).write_text(example(source, number), encoding="utf-8")
        return ""
    if game in kits.games():
        language = next(islice(cycle(languages(game)), number, None))
        kits.new_bot(game, language, place)
        return ""
    strategies = list(load_strategies(game))
    return f'bot = "builtin:{strategies[number % len(strategies)]}"\n'


def languages(game: str) -> list[str]:
    """Return the languages of a game's kits whose programs run here as they stand.

    Raises UsageError if there is none.
    """
    ready = [
        name
        for name, language in kits.LANGUAGES.items()
        if not language.build and not language.missing() and kits.folder(game, name).is_dir()
    ]
    if not ready:
        raise UsageError(f"no kit of {game} runs here; `cw bots kits` says what is missing")
    return ready


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
@GAME
@OPTION
@SANDBOX
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a team.")
def validate_command(
    place: Path, game: str, options: tuple[str, ...], sandbox: SandboxPolicy, as_json: bool
) -> None:
    """Let every team play a match against random moves, and report what is wrong with each.

    Exit code 1 if a team fails.
    """
    chosen = ({"size": 5} if game == "circuit-wars" else {}) | dict(map(read_option, options))
    problem = Sandbox(sandbox).problem()
    if problem is not None:
        click.echo(f"LIMITS ONLY: programs can read your files ({problem})", err=True)
    trial = Trial(game, chosen, Isolation(sandbox))
    failed = asyncio.run(validated(read_each(place, game), trial, as_json))
    if failed:
        raise SystemExit(1)


@dataclass(frozen=True, slots=True)
class Trial:
    """The match that each team plays."""

    game: str
    options: dict[str, Json]
    isolation: Isolation


async def validated(teams: Sequence[Team | UnfitTeam], trial: Trial, as_json: bool) -> int:
    """Try all teams, print what comes of it, and return how many have failed."""
    failed = 0
    async for team, problem in problems(teams, trial):
        failed += problem is not None
        said = {"team": team.id, "ok": problem is None, "problem": problem}
        click.echo(json.dumps(said) if as_json else visible(f"{team.id}: {problem or 'ok'}"))
    return failed


async def problems(
    teams: Sequence[Team | UnfitTeam], trial: Trial
) -> AsyncIterator[tuple[Team | UnfitTeam, str | None]]:
    """Let each team play, and yield what is wrong with it, None if nothing is."""
    workers = Workers()
    try:
        for team in teams:
            if isinstance(team, UnfitTeam):
                yield team, team.problem
            else:
                yield team, await why_unfit(team, trial, workers)
    finally:
        await workers.close()


async def why_unfit(team: Team, trial: Trial, workers: Workers) -> str | None:
    """Return what went wrong in a team's match, None if nothing did."""
    spec = MatchSpec(
        id=f"validate-{team.id}",
        game=trial.game,
        bots=(team.bot, *opponents(team.id, trial.game)),
        seed=1,
        options=trial.options,
        isolation=trial.isolation,
    )
    outcome = await workers.play(Job(spec, {team.id: team.secrets}))
    if isinstance(outcome, MatchFailure):
        return outcome.message
    faults = outcome.faults_of(0)
    return f"turn {faults[0].turn}: {faults[0].kind}: {faults[0].detail}" if faults else None


def opponents(team: str, game: str) -> list[BotSpec]:
    """Return as many built-in players as the game needs beside a team: random ones, if it has."""
    strategies = load_strategies(game)
    chosen = RANDOM if RANDOM in strategies else next(iter(strategies))
    names = (name for number in count(1) if (name := f"opponent-{number}") != team)
    needed = max(2, load_game(game).rules.seats[0]) - 1
    return [BotSpec(name, "builtin", chosen) for name in islice(names, needed)]
