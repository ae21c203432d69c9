"""Options shared by the commands of the lab."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce, wraps
from pathlib import Path
from typing import Any, Final

import click

from cw.cli.options import OPTION, SANDBOX, VERBOSE, read_option
from cw.cli.output.readers import discard_output
from cw.errors import CapacityError, Failure, UsageError, visible
from cw.lab.comparison import LineUp, read_line_up
from cw.lab.journal import read_head
from cw.league.strength_tests import Hypotheses
from cw.matches.spec import Isolation, SandboxPolicy

JOBS: Final = click.option(
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default="all cores",
    help="How many matches are played at the same time; their bots compete for the cores.",
)

SETTING: Final = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME.KEY=VALUE",
    help="A setting of a bot, as for `cw play`; may be repeated.",
)

SEED: Final = click.option(
    "--seed", type=click.IntRange(0), help="Seed of the first pair.  [default: random]"
)

AMONG: Final = click.option(
    "--among",
    multiple=True,
    metavar="BOT",
    help="A bot for one of the other seats of a match; may be repeated.",
)

PLAYERS: Final = click.option(
    "--players",
    type=click.IntRange(2, 1000),
    help="Seats of a match; built-in strategies fill the others, the strongest first."
    "  [default: 2 and those of --among]",
)

EXPERIMENT: Final = (
    click.option(
        "--elo0",
        type=float,
        default=0.0,
        show_default=True,
        help="Lead in Elo that counts as no improvement.",
    ),
    click.option(
        "--elo1",
        type=float,
        default=20.0,
        show_default=True,
        help="Lead in Elo that the test should detect.",
    ),
    click.option(
        "--alpha",
        type=float,
        default=0.05,
        show_default=True,
        help='Risk of a false "stronger".',
    ),
    click.option(
        "--beta",
        type=float,
        default=0.05,
        show_default=True,
        help="Risk of missing a lead of --elo1.",
    ),
    click.option(
        "--games",
        type=click.IntRange(2),
        default=4000,
        show_default=True,
        help="Maximum number of matches.",
    ),
    JOBS,
    AMONG,
    PLAYERS,
    SEED,
    OPTION,
    SETTING,
    SANDBOX,
    VERBOSE,
)
"""The options for what is tested, for how long, and how its matches are played."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The values of the options of an experiment."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    games: int
    jobs: int
    among: tuple[str, ...]
    players: int | None
    seed: int | None
    options: tuple[str, ...]
    settings: tuple[str, ...]
    sandbox: SandboxPolicy
    verbose: bool

    @property
    def hypotheses(self) -> Hypotheses:
        """The hypotheses to test; raises UsageError if invalid."""
        try:
            return Hypotheses(self.elo0, self.elo1, self.alpha, self.beta)
        except ValueError as error:
            raise UsageError(str(error)) from None

    def line_up(self, game: str, bots: Sequence[str]) -> LineUp:
        """Return the line-up of two bots and any others; raise UsageError like `read_line_up`."""
        options = dict(map(read_option, self.options))
        line_up = read_line_up(game, (*bots, *self.among), self.players, self.settings, options)
        return replace(line_up, isolation=Isolation(self.sandbox))

    def first_seed(self, file: Path | None) -> int:
        """Return the given seed, otherwise that of the resumed file, otherwise a random one."""
        if self.seed is not None:
            return self.seed
        known = read_head(file).get("seed") if file else None
        if known is None:
            return secrets.randbelow(2**31)
        if not isinstance(known, int) or known < 0:
            raise UsageError(
                f"{file} line 1 is not the header of a file of matches: give another file"
            )
        return known


def experiment(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of an experiment to a command, which receives their values as `asked`."""

    @wraps(command)
    def collected(**options: Any) -> None:
        values = {field.name: options.pop(field.name) for field in fields(Asked)}
        command(asked=Asked(**values), **options)

    return reduce(lambda inner, option: option(inner), reversed(EXPERIMENT), collected)


class FailedExperiment(click.ClickException):
    """A failed experiment, which says nothing about the bots."""

    exit_code = 4


class ExperimentCommand(click.Command):
    """A command whose exit code 1 means that a bot is not stronger; failures use another code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; failures have the exit code of FailedExperiment."""
        try:
            return super().invoke(ctx)
        except (CapacityError, Failure) as error:
            raise FailedExperiment(visible(str(error))) from None
        except BrokenPipeError:
            discard_output()
            raise SystemExit(FailedExperiment.exit_code) from None
