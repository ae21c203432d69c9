"""The result of a comparison, in the terminal and as an exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from cw.errors import visible
from cw.lab.comparison import Comparison, fault_lines, sentence
from cw.league.strength_tests import Decision

EXIT_CODES: Final[Mapping[Decision | None, int]] = {"stronger": 0, "not stronger": 1, None: 3}


def print_comparison(comparison: Comparison) -> None:
    """Print the result of a comparison, and its faults."""
    # Names and faults of bots may contain any characters.
    click.echo(visible(sentence(comparison)))
    for line in fault_lines(comparison):
        click.echo(visible(f"  {line}"))
