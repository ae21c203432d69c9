"""Options that the commands of the lab share."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from cw.errors import UsageError
from cw.lab.journal import read_head
from cw.league.sprt import Hypotheses

Command = TypeVar("Command", bound=Callable[..., Any])

JOBS: Final = click.option(
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default="all cores",
    help="How many matches are played at the same time; their bots compete for the cores.",
)

SETTING: Final = click.option(
    "--set", "settings", multiple=True, metavar="NAME.KEY=VALUE", help="Setting of a bot."
)

SEED: Final = click.option(
    "--seed", type=click.IntRange(0), help="Seed of the first pair.  [default: drawn]"
)

AMONG: Final = click.option(
    "--among", multiple=True, metavar="BOT", help="A bot for one of the other seats of a match."
)

PLAYERS: Final = click.option(
    "--players",
    type=click.IntRange(2, 1000),
    help="Seats of a match; those that nobody was named for get built-in strategies."
    "  [default: 2 and those of --among]",
)

TEST: Final = (
    click.option(
        "--elo0",
        type=float,
        default=0.0,
        show_default=True,
        help="A lead that is not worth anything.",
    ),
    click.option(
        "--elo1",
        type=float,
        default=20.0,
        show_default=True,
        help="A lead that must not be missed.",
    ),
    click.option(
        "--alpha",
        type=float,
        default=0.05,
        show_default=True,
        help="How often a lead of --elo0 may pass for a stronger bot.",
    ),
    click.option(
        "--beta",
        type=float,
        default=0.05,
        show_default=True,
        help="How often a lead of --elo1 may be missed.",
    ),
    click.option(
        "--games",
        type=click.IntRange(2),
        default=4000,
        show_default=True,
        help="How many matches are played at most.",
    ),
)
"""What is tested, and for how long."""


def tested(command: Command) -> Command:
    """Give a command the options of the test, in their order."""
    return reduce(lambda inner, option: option(inner), reversed(TEST), command)


def chosen_seed(seed: int | None, file: Path | None) -> int:
    """Return the seed that was given, or that of the file that is resumed, or a drawn one."""
    if seed is not None:
        return seed
    known = read_head(file).get("seed") if file else None
    if known is None:
        return secrets.randbelow(2**31)
    if not isinstance(known, int) or known < 0:
        raise UsageError(f"{file} line 1 does not say what is played: give another file")
    return known


def hypotheses(elo0: float, elo1: float, alpha: float, beta: float) -> Hypotheses:
    """Return what is tested; raise UsageError for what cannot be."""
    try:
        return Hypotheses(elo0, elo1, alpha, beta)
    except ValueError as error:
        raise UsageError(str(error)) from None
