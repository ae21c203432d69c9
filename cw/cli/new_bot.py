"""`cw new-bot`: creates a starter bot in the language of your choice."""

from __future__ import annotations

from pathlib import Path

import click

from cw.errors import UsageError
from cw.kits import LANGUAGES, Language, new_bot


@click.command("new-bot")
@click.argument("game", required=False)
@click.argument("language", required=False)
@click.argument("folder", required=False, metavar="DIR", type=click.Path(path_type=Path))
def new_bot_command(game: str | None, language: str | None, folder: Path | None) -> None:
    """Copy a starter bot into the folder DIR, ready to run.

    It plays GAME and is written in LANGUAGE. DIR must be new or empty; without one it is
    GAME-LANGUAGE. It prints what to type next, which is also in DIR/README.md.

    \b
      cw bots kits                       the games and languages
      cw new-bot hexagon php mybot

    Installed games without kits get Python and JavaScript ones.
    """
    if game is None or language is None:
        raise UsageError("give GAME and LANGUAGE; `cw bots kits` lists both")
    folder = folder or Path(f"{game}-{language}")
    new_bot(game, language, folder)
    for line in next_steps(game, LANGUAGES[language], folder):
        click.echo(line)


def next_steps(game: str, language: Language, folder: Path) -> list[str]:
    """Return what to type next, starting with how to install missing packages."""
    lacking = language.missing()
    install = [f"apt install {language.packages}    ({', '.join(lacking)} is missing here)"]
    build = [language.build] if language.build else []
    steps = [f"cd {folder}", *build, f"cw check {game} {quoted(language.bot)}"]
    return [
        f"Created {folder}. Next:",
        *(f"  {step}" for step in [*(install * bool(lacking)), *steps]),
        f"Or write it in the browser: cw workshop {game} {folder}",
    ]


def quoted(bot: str) -> str:
    """Return a bot argument, in quotes if it contains spaces."""
    return f'"{bot}"' if " " in bot else bot
