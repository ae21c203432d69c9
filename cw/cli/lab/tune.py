"""`cw tune`: finds the numeric settings with which a bot is strongest."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from cw.arena.bots import read_bots, split_name
from cw.cli.lab.options import Asked, ExperimentCommand, experiment
from cw.cli.lab.progress import LabProgress
from cw.cli.lab.running import run
from cw.cli.lab.verdicts import EXIT_CODES, print_comparison
from cw.cli.output.readers import while_read
from cw.errors import UsageError, visible
from cw.games.registry import load_strategies
from cw.games.rules import Json
from cw.lab.comparison import Comparison, Contest, LineUp, check_games, compare, document
from cw.lab.journal import Players, opened
from cw.lab.tuning import (
    CSV_FILE,
    PICTURE,
    Course,
    Tuning,
    moves,
    read_parameters,
    tune,
    write_course,
)
from cw.league.strength_tests import Hypotheses

STEPS: Final = "steps.jsonl"
COMPARISON: Final = "comparison.jsonl"


@click.command("tune", cls=ExperimentCommand)
@click.argument("game")
@click.argument("bot")
@click.argument(
    "parameters", metavar="PARAMETERS.toml", type=click.Path(path_type=Path, dir_okay=False)
)
@click.option(
    "--steps",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="Number of steps, in each of which all numbers are changed.",
)
@click.option(
    "--pairs",
    type=click.IntRange(1, 1000),
    default=4,
    show_default=True,
    help="Pairs of matches in each step.",
)
@experiment
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("tuning"),
    show_default=True,
    help="Folder of the matches, numbers.csv and numbers.svg.",
)
@click.option(
    "--resume", "resuming", is_flag=True, help="Continue the tuning in the folder of --out."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def tune_command(
    game: str,
    bot: str,
    parameters: Path,
    steps: int,
    pairs: int,
    asked: Asked,
    out: Path,
    resuming: bool,
    as_json: bool,
) -> None:
    """Tune the numeric parameters of BOT for GAME.

    BOT is a program or python:PATH. It reads each number from its environment: `depth` from
    BOT_SET_DEPTH. PARAMETERS.toml has a table for each number. A number written without a decimal
    point takes only whole values:

    \b
      [depth]
      start = 4
      low = 1
      high = 9
      step = 2

    In each step the bot plays itself, with every number moved up or down at random, by `step` at
    first, and all numbers follow the winner (SPSA). Afterwards the result is compared with the
    start, as `cw compare` does, with its options and exit codes.

    \b
      cw tune paint ./bot.py numbers.toml
      cw tune hexagon mine=./bot.py numbers.toml --steps 300 --out tuned
      cw tune hexagon mine=./bot.py numbers.toml --out tuned --resume
    """
    numbers = read_parameters(parameters)
    base = read_base(game, bot, asked)
    check_games(base, asked.games)
    if (out / STEPS).exists() and not resuming:
        raise UsageError(
            f"{out} holds a tuning already: continue it with --resume, or choose another --out"
        )
    tuning = Tuning(base, numbers, steps, pairs, asked.first_seed(out / STEPS))
    plan = Plan(tuning, asked.hypotheses, asked.games, out)
    course, comparison = plan.play(asked.jobs, verbose=asked.verbose)
    with while_read():
        if as_json:
            click.echo(json.dumps(report(course, comparison, out)))
        else:
            tell(course, comparison, out)
    raise SystemExit(EXIT_CODES["not stronger" if comparison is None else comparison.decision])


def read_base(game: str, bot: str, asked: Asked) -> LineUp:
    """Read the line-up of a bot against itself; raise UsageError if it takes no settings."""
    name = read_bots([bot], builtins=load_strategies(game)).bots[0].name
    _, spec = split_name(bot)
    base = asked.line_up(game, (f"{name}={spec}", f"{name}-again={spec}"))
    if base.new_bot.kind not in ("exec", "python"):
        raise UsageError(
            f"a {base.new_bot.kind} bot gets no settings, so it cannot be tuned: give a program or"
            " python:PATH, which reads its numbers from its environment"
        )
    return base


@dataclass(frozen=True, slots=True)
class Plan:
    """A tuning, and the comparison that follows it."""

    tuning: Tuning
    hypotheses: Hypotheses
    games: int
    """Maximum number of matches of the comparison."""
    folder: Path

    def play(self, jobs: int, *, verbose: bool) -> tuple[Course, Comparison | None]:
        """Play the rest of both; the comparison is None if the result equals the start."""
        with opened(self.folder / STEPS, self.tuning.head) as journal:

            async def experiment(
                playing: Players, progress: LabProgress
            ) -> tuple[Course, Comparison | None]:
                progress.begin(len(journal.lines))
                course = await tune(self.tuning, journal, playing, self.watch(progress))
                return course, await self.compared(course, playing, progress)

            to_go_on = f"continue with the same command and --out {self.folder} --resume"
            return run(experiment, jobs, to_go_on, verbose=verbose)

    def watch(self, progress: LabProgress) -> Callable[[Course], None]:
        """Return a callback that records and shows each step."""

        def seen(course: Course) -> None:
            write_course(self.folder, course)
            progress.course(course)

        return seen

    async def compared(
        self, course: Course, playing: Players, progress: LabProgress
    ) -> Comparison | None:
        """Compare the result with the start; return None if they are the same."""
        line_up = self.tuning.between(("tuned", course.result), ("start", course.points[0]))
        tuned, start, *_ = line_up.bots
        if tuned.settings == start.settings:
            return None
        contest = Contest(line_up, self.hypotheses, self.games, self.tuning.contest_seed)
        with opened(self.folder / COMPARISON, contest.head) as journal:
            progress.begin(len(journal.lines))
            return await compare(contest, journal, playing, progress.comparison)


def tell(course: Course, comparison: Comparison | None, out: Path) -> None:
    """Print how the numbers have changed, whether they are better, and how to play with them."""
    for line in moves(course):
        click.echo(line)
    if comparison is None:
        click.echo("no better values found")
    else:
        print_comparison(comparison)
    bot = course.tuning.base.new_bot
    settings = (f"--set {bot.name}.{key}={value}" for key, value in course.settings.items())
    play = f"cw play {course.tuning.base.game} {shlex.quote(f'{bot.name}={bot.spec}')} BOT"
    click.echo(visible(f"  play with them: {play} {' '.join(settings)}"), err=True)
    click.echo(visible(f"  how they moved: {out / CSV_FILE} and {out / PICTURE}"), err=True)


def report(course: Course, comparison: Comparison | None, out: Path) -> dict[str, Json]:
    """Return the result of a tuning as JSON."""
    start = course.points[0]
    return {
        "numbers": {
            name: {"start": start[name], "result": value} for name, value in course.result.items()
        },
        "settings": course.settings,
        "steps": course.steps,
        "seed": course.tuning.seed,
        "csv": str(out / CSV_FILE),
        "picture": str(out / PICTURE),
        "comparison": None if comparison is None else document(comparison),
    }
