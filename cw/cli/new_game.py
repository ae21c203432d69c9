"""`cw new-game`: creates a package with a new game that can be played immediately."""

from __future__ import annotations

import re
from pathlib import Path

import click

from cw.errors import UsageError
from cw.new_game import NewGame, new_game


@click.command("new-game")
@click.argument("name")
@click.argument("folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--simultaneous", is_flag=True, help="All players act at the same time.")
@click.option("--hidden", is_flag=True, help="Players see only a part of the state.")
@click.option(
    "--players",
    default="2",
    show_default=True,
    metavar="2-4",
    help="Number of players: 2, 3, 4 or a range.",
)
def new_game_command(
    name: str, folder: Path | None, simultaneous: bool, hidden: bool, players: str
) -> None:
    """Create a package with a game of your own, ready to play.

    DIR must be new or empty; without one it is NAME. The game works as is: players walk over a
    board and collect coins. Replace it file by file; README.md says what each file is for. The
    command prints what to type next.

    \b
      cw new-game tron --simultaneous --players 2-4
      cw new-game poker cards --hidden
    """
    fewest, most = read_players(players)
    folder = folder or Path(name)
    new_game(NewGame(name, fewest, most, simultaneous, hidden), folder)
    others = " builtin:greedy" * (fewest - 1)
    for line in (
        f"Created {folder}. Next:",
        f"  cd {folder}",
        "  pip install -e .",
        f"  cw play {name} builtin:random{others} --out match.json",
        "  cw replay open match.json",
        f"  cw test-game {name}",
        f"  cw new-bot {name} python mybot",
    ):
        click.echo(line)


def read_players(text: str) -> tuple[int, int]:
    """Return the minimum and the maximum number of players."""
    match = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", text)
    if match is None:
        raise UsageError(f"--players takes a number or a range such as 2-4, not {text!r}")
    return int(match[1]), int(match[2] or match[1])
