"""`cw bots kits`: lists the bot kits, and which of their tools are installed on this host."""

from __future__ import annotations

import json

import click

from cw.games.registry import GAMES
from cw.games.rules import Json
from cw.kits import LANGUAGES, Language, games, kits_of


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def kits(as_json: bool) -> None:
    """List the starter bots, and what this machine lacks to run them.

    `cw new-bot GAME LANGUAGE DIR` copies one.
    """
    if as_json:
        languages = {name: described(language) for name, language in LANGUAGES.items()}
        click.echo(json.dumps({"games": games(), "languages": languages}))
    else:
        for line in listing():
            click.echo(line)


def described(language: Language) -> dict[str, Json]:
    """Return a language's commands and missing tools as JSON."""
    missing = language.missing()
    return {
        "installed": not missing,
        "missing": missing,
        "packages": language.packages.split(),
        "build": language.build or None,
        "run": language.run,
        "bot": language.bot,
    }


def listing() -> list[str]:
    """Return lines of text: whether each language is installed, and how to build and run bots."""
    ours = [game for game in games() if game in GAMES]
    lines = [f"For each of the games {', '.join(ours)}:"]
    for name, language in LANGUAGES.items():
        lacking = language.missing()
        here = f"missing: {', '.join(lacking)}" if lacking else "installed"
        steps = [("build", language.build), ("run", language.run)]
        lines += ["", f"{name:<12}{here} (Debian: {language.packages})"]
        lines += [f"{'':<12}{step:<7}{command}" for step, command in steps if command]
    others = [f"For {game}: {', '.join(kits_of(game))}" for game in games() if game not in GAMES]
    return [*lines, *([""] * bool(others)), *others, "", "Copy one: cw new-bot GAME LANGUAGE DIR"]
