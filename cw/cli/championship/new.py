"""`cw championship new`: creates example teams."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path
from typing import Final

import click

from cw import kits
from cw.arena.bot_folders import CLIENT
from cw.assets import asset
from cw.championship.teams import ABOUT
from cw.cli.championship.options import FOLDER, GAME
from cw.errors import UsageError
from cw.files import make_folder
from cw.games.registry import game_entry, load_strategies

EXAMPLES: Final = ("ada", "alan", "barbara", "donald", "edsger", "grace", "ken", "margaret")


@click.command("new")
@click.argument("folder", type=FOLDER)
@GAME
def new_command(folder: Path, game: str) -> None:
    """Create FOLDER with eight example teams, in the languages that this machine has.

    Those of Circuit Wars are copies of game_ai.py, some of them improved.

    \b
      cw championship new teams
      cw championship run teams --out results
      cw championship new painters --game paint
    """
    game_entry(game)
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} already exists and is not empty")
    for number, team in enumerate(EXAMPLES):
        place = folder / team
        make_folder(place)
        about = f'name = "{team.capitalize()}"\nmembers = ["{team}@example.org"]\n'
        about += make_example(game, place, number)
        (place / ABOUT).write_text(about, encoding="utf-8")
    more = "" if game == "circuit-wars" else f" --game {game}"
    click.echo(f"{len(EXAMPLES)} teams in {folder}; play them: cw championship run {folder}{more}")


def make_example(game: str, place: Path, number: int) -> str:
    """Write an example team's program into its folder; return the rest of its team.toml.

    In a game without kits, teams use its built-in strategies.
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
    """Return the languages of a game's kits that are installed here and need no build step.

    Raises UsageError if there is none.
    """
    ready = [
        name
        for name in kits.kits_of(game)
        if not kits.LANGUAGES[name].build and not kits.LANGUAGES[name].missing()
    ]
    if not ready:
        raise UsageError(
            f"no kit of {game} runs on this machine; `cw bots kits` says what is missing"
        )
    return ready


def example(source: str, number: int) -> str:
    """Return an example team's client; every second one plays the best capture it finds."""
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
