"""`cw replay verify`: checks replays by playing them again with the rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from cw.cli.replay.reading import FILE, read_file
from cw.errors import ArenaError, visible
from cw.games.rules import Json
from cw.replays.own_formats import proven


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each file.")
def verify(files: tuple[Path, ...], as_json: bool) -> None:
    """Verify replays by playing them again by the rules.

    The start, every frame, the end, the result and the hash must match; in a game's own format,
    everything that it records. Prints a line for each FILE. Exit code 1 if one is wrong.
    """
    verdicts = [judged(file) for file in files]
    for verdict in verdicts:
        click.echo(json.dumps(verdict) if as_json else visible(in_words(verdict)))
    if not all(verdict["ok"] for verdict in verdicts):
        raise SystemExit(1)


def judged(file: Path) -> dict[str, Json]:
    """Return the verdict on a file: whether it is correct, and what is wrong with it."""
    report: dict[str, Json] = {"file": str(file)}
    try:
        replay_file = read_file(file)
        error = proven(replay_file)
    except ArenaError as refused:
        return report | {"ok": False, "error": str(refused)}
    document = replay_file.document
    position = {"from": document["from"]} if "from" in document and error is None else {}
    return report | {"ok": error is None, "error": error} | position


def in_words(verdict: Mapping[str, Json]) -> str:
    """Return the verdict on a file as a line of text."""
    fine = "ok, from a given position" if "from" in verdict else "ok"
    return f"{verdict['file']}: {verdict['error'] or fine}"
