"""What `cw hub` commands share: options, the database of a site, and output."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import click

from cw.errors import Failure, UsageError, visible
from cw_hub.operation.settings import HubSettings, read_settings
from cw_hub.store.database import AWAY, Database, reason
from cw_hub.store.migrations import prepare
from cw_hub.store.objects import StoreAway

P = ParamSpec("P")
T = TypeVar("T")

PAUSE: Final = 0.5
"""Seconds between two attempts to reach a service that does not respond yet."""


def with_settings(command: Callable[Concatenate[HubSettings, P], T]) -> Callable[..., T]:
    """Add `--set` to a command, and pass it the settings as its first argument."""

    @click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="CW_NAME=VALUE",
        help="A setting that overrides the environment; may be repeated.",
    )
    @wraps(command)
    def reading(overrides: tuple[str, ...], *args: P.args, **kwargs: P.kwargs) -> T:
        return command(read_settings(os.environ, overrides), *args, **kwargs)

    return reading


def as_json(context: Any) -> Any:
    """Add `--json` to a command."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(
        context
    )


def checkable(command: Callable[P, T]) -> Callable[..., T]:
    """Add `--check-config` to the command of a role, which receives it as a flag."""
    return click.option(
        "--check-config", is_flag=True, help="Check the settings, print the result, and exit."
    )(command)


def waiting(command: Callable[P, T]) -> Callable[P, T]:
    """Add `--wait`, in seconds, to a command."""
    return click.option(
        "--wait",
        type=click.FloatRange(0, 3600),
        default=0.0,
        metavar="SECONDS",
        help="Seconds to wait for a service that does not answer yet.",
    )(command)


def patiently(act: Callable[[], T], seconds: float) -> T:
    """Return the result of `act`, retried for some seconds while its service does not respond.

    Raises Failure, naming the service, if it still does not respond after that.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return act()
        except StoreAway as error:
            failure: Failure = error
        except AWAY as error:
            failure = Failure(f"the database does not answer: {reason(error)}")
        if time.monotonic() >= deadline:
            raise failure
        time.sleep(PAUSE)


def say_right() -> None:
    """Print that the settings of a role are valid."""
    click.echo("Settings OK.")


def refuse_alone(settings: HubSettings, role: str) -> None:
    """Raise UsageError if the processes of a hub could not reach each other."""
    if settings.is_embedded:
        raise UsageError(
            f"cw hub {role} needs a queue that other processes can reach: set CW_BROKER_URL"
        )


def outage(error: Exception) -> str | None:
    """Return a line saying that the database does not respond, or None for another error."""
    if not isinstance(error, AWAY):
        return None
    return f"the database does not answer: {reason(error)}"


@contextmanager
def opened(settings: HubSettings) -> Iterator[Database]:
    """Open the database of a site that has been started before."""
    if settings.is_sqlite and not settings.data.is_dir():
        raise UsageError(f"there is no data folder {settings.data}; cw hub serve creates it")
    database = Database(settings.database)
    try:
        prepare(database)
        yield database
    finally:
        database.close()


def tell(document: dict[str, Any], words: str, *, as_json: bool) -> None:
    """Print a result, as JSON or as text."""
    click.echo(json.dumps(document, default=str) if as_json else visible(words))
