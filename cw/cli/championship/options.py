"""Arguments and options shared by several commands of `cw championship`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

PLACE: Final = click.Path(exists=True, path_type=Path)
FOLDER: Final = click.Path(file_okay=False, path_type=Path)
GAME = click.option(
    "--game", default="circuit-wars", show_default=True, help="The game that the teams play."
)
PORT = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Show /championship/ in the browser during the run.",
)
HANDOUTS = click.option(
    "--handouts",
    "with_handouts",
    is_flag=True,
    help="Write a hand-out for each team, with its own results, faults, output and replays.",
)
JOBS = click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    help="Matches at the same time.  [default: cores / 2; 256 with --queue]",
)
TRIED_AT_ONCE = click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    help="Teams at the same time.  [default: cores; four times as many for Circuit Wars]",
)
QUEUE = click.option(
    "--queue",
    "queued",
    is_flag=True,
    help="Let the workers of a hub play the matches, on any number of machines.",
)
