"""All checks by name, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from cw.suite import document_checks, part_checks, rules_checks
from cw.suite.subject import Subject

Check: TypeAlias = Callable[[Subject], None]
"""Raises BrokenPromise, or any error of the game's code; its docstring says what is checked."""

ALL: Final[tuple[Check, ...]] = (
    rules_checks.name,
    rules_checks.same_seed,
    rules_checks.frozen_input,
    rules_checks.end,
    rules_checks.faults,
    rules_checks.nothing_but_faults,
    rules_checks.samples,
    rules_checks.order,
    rules_checks.unknown_options,
    rules_checks.strategies,
    document_checks.survival,
    document_checks.views,
    document_checks.altered_states,
    document_checks.any_player,
    document_checks.any_actions,
    part_checks.drawings,
    part_checks.moves,
    part_checks.strategies_over_the_wire,
    part_checks.arrays,
    part_checks.vectors,
)

CHECKS: Final[Mapping[str, Check]] = {check.__name__: check for check in ALL}


def sentence_of(check: Check) -> str:
    """Return what a check verifies: its first line without "Check that"."""
    return (check.__doc__ or "").removeprefix("Check that ").partition("\n")[0].rstrip(".")
