"""`cw hub worker` and `cw hub scheduler`: the roles of a hub on several machines."""

from __future__ import annotations

import click

from cw.cli.hub_options import checkable, refuse_alone, say_right, with_settings
from cw.errors import UsageError
from cw.hub.jobs.app import KINDS, CeleryQueue
from cw.hub.jobs.roles import schedule, work
from cw.hub.logs import begin_log
from cw.hub.resources import opened
from cw.hub.settings import HubSettings


@click.command()
@with_settings
@click.option(
    "--slots",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="How many matches are played at once.",
)
@click.option(
    "--kinds", default=",".join(KINDS), metavar="KIND,...", help="Kinds of matches to play."
)
@click.option("--programs", is_flag=True, help="Also matches of uploaded programs, in a sandbox.")
@checkable
def worker(
    settings: HubSettings, slots: int, kinds: str, programs: bool, check_config: bool
) -> None:
    """Play matches until told to end. It opens no port."""
    chosen = kinds.split(",")
    unknown = [kind for kind in chosen if kind not in KINDS]
    if unknown:
        raise UsageError(f"--kinds takes some of {','.join(KINDS)}, not {unknown[0]!r}")
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
    """See to what is due, and do the jobs, until told to end. It opens no port."""
    refuse_alone(settings, "scheduler")
    if check_config:
        say_right()
        return
    begin_log(settings)
    with opened(settings, CeleryQueue(settings)) as resources:
        schedule(resources)
