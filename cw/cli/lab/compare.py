"""`cw compare`: tests whether a bot is stronger than another, with as few matches as possible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import click

from cw.cli.lab.options import Asked, ExperimentCommand, experiment
from cw.cli.lab.progress import LabProgress
from cw.cli.lab.running import run
from cw.cli.lab.verdicts import EXIT_CODES, print_comparison
from cw.cli.output.readers import while_read
from cw.errors import visible
from cw.lab.comparison import Comparison, Contest, compare, document
from cw.lab.journal import Journal, Players, opened

FOLDER: Final = Path("comparisons")


@click.command("compare", cls=ExperimentCommand)
@click.argument("game")
@click.argument("new")
@click.argument("old")
@experiment
@click.option(
    "--resume",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Continue the matches in this file, or create it.  [default: a new one in comparisons/]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def compare_command(
    game: str, new: str, old: str, asked: Asked, file: Path | None, as_json: bool
) -> None:
    """Play GAME in pairs until it is clear whether NEW is stronger.

    A pair is the same seed from every seat. After each pair a sequential test (SPRT) decides
    whether NEW leads by --elo1 Elo rather than by --elo0, or whether more pairs are needed. In a
    match of more than two, the score is the share of opponents NEW outranks minus OLD's.

    \b
      cw compare paint mine-v2=./bot.py mine-v1=./old/bot.py
      cw compare hexagon ./bot.py builtin:greedy --elo1 50 --games 400
      cw compare paint ./bot.py ./old.py --players 4 --among builtin:greedy
      cw compare paint ./bot.py ./old.py --resume test.jsonl --json

    Exit codes: 0 stronger, 1 not, 2 wrong usage, 3 undecided after --games or because the bots
    repeat one match, 4 a failure; 130 after Ctrl-C or SIGTERM, with the result so far.
    Each match is recorded when it is over; --resume FILE continues. The same seed gives the same
    verdict, whatever --jobs is, unless bots use randomness of their own or measure time.
    """
    line_up = asked.line_up(game, (new, old))
    first = asked.first_seed(file)
    journal_file = file or fresh_file(game, first)
    contest = Contest(line_up, asked.hypotheses, asked.games, first)
    with opened(journal_file, contest.head) as journal:
        try:
            comparison = played(contest, journal, asked.jobs, verbose=asked.verbose)
        except (KeyboardInterrupt, SystemExit):
            # Print the result so far even when interrupted.
            show(contest.now(journal), journal_file, first, as_json=as_json)
            raise
    show(comparison, journal_file, first, as_json=as_json)
    raise SystemExit(EXIT_CODES[comparison.decision])


def show(comparison: Comparison, file: Path, seed: int, *, as_json: bool) -> None:
    """Print a comparison, and the file that stores its matches."""
    with while_read():
        if as_json:
            click.echo(json.dumps({**document(comparison), "seed": seed, "file": str(file)}))
        else:
            print_comparison(comparison)
            click.echo(visible(f"  seed {seed}, matches: {file}"), err=True)


def played(contest: Contest, journal: Journal, jobs: int, *, verbose: bool) -> Comparison:
    """Play a comparison to its end, and show its progress."""

    async def experiment(playing: Players, progress: LabProgress) -> Comparison:
        progress.begin(len(journal.lines))
        return await compare(contest, journal, playing, progress.comparison)

    to_go_on = f"continue with the same command and --resume {journal.file}"
    return run(experiment, jobs, to_go_on, verbose=verbose)


def fresh_file(game: str, seed: int) -> Path:
    """Return an unused file: another comparison with this seed must not be resumed."""
    number, file = 1, FOLDER / f"{game}-{seed}.jsonl"
    while file.exists():
        number += 1
        file = FOLDER / f"{game}-{seed}-{number}.jsonl"
    return file
