"""`cw test-game`: runs the checks that every game must pass."""

from __future__ import annotations

import json
import traceback
from typing import NamedTuple

import click

from cw.cli.options import OPTION, read_option
from cw.errors import visible
from cw.suite import CHECKS, BrokenPromise, Check, Subject, sentence_of, subject


class Answer(NamedTuple):
    """The result of a check."""

    check: str
    sentence: str
    problem: str
    """Why the game failed, or "" if it passed."""
    place: str
    """The file and line that raised an unexpected exception; "" if the check itself failed."""


@click.command("test-game")
@click.argument("game")
@OPTION
@click.option(
    "--check",
    "chosen",
    metavar="CHECK",
    multiple=True,
    type=click.Choice(list(CHECKS)),
    help="Run only this check, such as samples; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def test_game(game: str, options: tuple[str, ...], chosen: tuple[str, ...], as_json: bool) -> None:
    """Run the checks that every game must pass.

    Plays random matches, reads corrupted documents, and tests the optional parts that the game has.
    With --option, the matches use options of the game, such as a small board. Exit code 1 if the
    game fails a check.

    \b
      cw test-game hexagon --option size=3
    """
    tried = subject(game, **dict(read_option(text) for text in options))
    checks = {name: check for name, check in CHECKS.items() if not chosen or name in chosen}
    failed = False
    for name, check in checks.items():
        answer = outcome_of(name, check, tried)
        failed |= bool(answer.problem)
        click.echo(json.dumps(answer._asdict()) if as_json else visible(line_of(answer)))
    if failed:
        raise SystemExit(1)


def outcome_of(name: str, check: Check, tried: Subject) -> Answer:
    """Run a check on a game."""
    try:
        check(tried)
    except BrokenPromise as error:
        return Answer(name, sentence_of(check), str(error), "")
    # Third-party code: report whatever it raises, with its location.
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return Answer(name, sentence_of(check), what, f"{frame.filename}, line {frame.lineno}")
    return Answer(name, sentence_of(check), "", "")


def line_of(answer: Answer) -> str:
    """Return a result as a line of text."""
    if not answer.problem:
        return f"ok      {answer.check:<24} {answer.sentence}"
    where = f"\n{'':<33}{answer.place}" if answer.place else ""
    return f"failed  {answer.check:<24} {answer.problem}{where}"
