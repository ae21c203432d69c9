"""`cw hub worker` and `cw hub scheduler`: the roles of a hub on several machines."""

from __future__ import annotations

import click

from cw.errors import UsageError
from cw_hub.cli.options import checkable, refuse_alone, say_right, with_settings
from cw_hub.operation.health.logs import begin_log
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import HubSettings
from cw_hub.site.formats import KINDS
from cw_hub.site.processes.roles import schedule, work


@click.command()
@with_settings
@click.option(
    "--slots",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Number of matches played at once.",
)
@click.option(
    "--kinds",
    default=",".join(KINDS.names()),
    metavar="KIND,...",
    help="Kinds of matches that the worker plays, separated by commas.",
)
@click.option(
    "--programs", is_flag=True, help="Play matches of uploaded programs too, in a sandbox."
)
@checkable
def worker(
    settings: HubSettings, slots: int, kinds: str, programs: bool, check_config: bool
) -> None:
    """Play matches until stopped. Opens no port."""
    chosen = kinds.split(",")
    unknown = [kind for kind in chosen if kind not in KINDS.names()]
    if unknown:
        raise UsageError(
            f"--kinds takes one or more of {','.join(KINDS.names())}, not {unknown[0]!r}"
        )
    refuse_alone(settings, "worker")
    if check_config:
        say_right()
        return
    begin_log(settings)
    with opened(settings, CeleryQueue(settings)) as resources:
        work(resources, slots, chosen, runs_programs=programs)


@click.command()
@with_settings
@checkable
def scheduler(settings: HubSettings, check_config: bool) -> None:
    """Start what is due and run periodic jobs, until stopped. Opens no port."""
    refuse_alone(settings, "scheduler")
    if check_config:
        say_right()
        return
    begin_log(settings)
    with opened(settings, CeleryQueue(settings)) as resources:
        schedule(resources)
