"""`cw bots kits`: the bot kits, and what this machine has of what they need."""

from __future__ import annotations

import json

import click
from rich.console import Console
from rich.table import Table

from cw.games.rules import Json
from cw.kits import LANGUAGES, Language, games


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def kits(as_json: bool) -> None:
    """List the bots to start from, and what this machine has of what they need.

    `cw new-bot GAME LANGUAGE DIR` copies one.
    """
    if as_json:
        languages = {name: described(language) for name, language in LANGUAGES.items()}
        click.echo(json.dumps({"games": games(), "languages": languages}))
    else:
        Console().print(table())


def described(language: Language) -> dict[str, Json]:
    """Return a language for programs."""
    missing = language.missing()
    return {
        "installed": not missing,
        "missing": missing,
        "packages": language.packages.split(),
        "build": language.build or None,
        "run": language.run,
        "bot": language.bot,
    }


def table() -> Table:
    """List the languages for reading."""
    made = Table(box=None, pad_edge=False)
    for title in ("language", "installed", "Debian packages", "build", "run"):
        made.add_column(title, overflow="fold")
    for name, language in LANGUAGES.items():
        lacking = language.missing()
        here = f"no: {', '.join(lacking)}" if lacking else "yes"
        made.add_row(name, here, language.packages, language.build, language.run)
    made.caption = f"Each for the games {', '.join(games())}."
    return made
