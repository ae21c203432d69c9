"""The options that several commands of `cw hub` have in common."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import click

from cw.errors import UsageError
from cw.hub.settings import HubSettings, read_settings

P = ParamSpec("P")
T = TypeVar("T")


def with_settings(command: Callable[Concatenate[HubSettings, P], T]) -> Callable[..., T]:
    """Let a command take `--set`; it is given the settings first."""

    @click.option(
        "--set",
        "given",
        multiple=True,
        metavar="CW_NAME=VALUE",
        help="A setting, before the environment's; may be repeated.",
    )
    @wraps(command)
    def reading(given: tuple[str, ...], *args: P.args, **kwargs: P.kwargs) -> T:
        return command(read_settings(os.environ, given), *args, **kwargs)

    return reading


def as_json(context: Any) -> Any:
    """Let a command take `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(context)


def checkable(command: Callable[P, T]) -> Callable[..., T]:
    """Let a role take `--check-config`; it is told whether to check alone."""
    return click.option(
        "--check-config", is_flag=True, help="Check the settings, say that they are right, and end."
    )(command)


def say_right() -> None:
    """Say that the settings of a role are right."""
    click.echo("The settings are right.")


def refuse_alone(settings: HubSettings, role: str) -> None:
    """Raise UsageError where the processes of a hub could not reach each other."""
    if settings.is_embedded:
        raise UsageError(f"cw hub {role} needs a queue that others reach: set CW_BROKER_URL")
