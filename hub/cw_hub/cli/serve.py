"""`cw hub serve`, `demo`, `worker`, `scheduler` and `player`: starts the processes of a hub."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from cw.errors import UsageError
from cw.server.wsgi import address_of, listen
from cw.server.wsgi import serve as run
from cw_hub.bots.programs import report_limits
from cw_hub.cli.options import checkable, refuse_alone, say_right, with_settings
from cw_hub.operation.logs import begin_log, is_json
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, make_private_folder, opened
from cw_hub.operation.settings import HubSettings
from cw_hub.players.process import main
from cw_hub.site.application import create_hub
from cw_hub.site.demo import PEOPLE, fill
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import begin_heartbeat, everything, folder_locked, schedule, work

PORT = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on, 0 for any.",
)

NO_MAILS: Final = "Mail is not sent, only written to files: set CW_MAIL."

logger = logging.getLogger(__name__)

DEMO_FOLDER = Path("hub-demo")
SLOTS = 2


@click.command()
@with_settings
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@PORT
@click.option(
    "--slots",
    type=click.IntRange(1, 64),
    default=SLOTS,
    show_default=True,
    help="Number of matches played at once.",
)
@click.option(
    "--no-worker",
    is_flag=True,
    help="Serve pages only, where workers and a scheduler run as other processes.",
)
@checkable
def serve(
    settings: HubSettings, host: str, port: int, slots: int, no_worker: bool, check_config: bool
) -> None:
    """Run the hub until Ctrl-C: its pages, matches and jobs."""
    settings = replace(settings, host=host, port=port)
    if no_worker:
        refuse_alone(settings, "serve --no-worker")
    if check_config:
        say_right()
    else:
        run_hub(settings, 0 if no_worker else slots)


@click.command()
@with_settings
@PORT
def demo(settings: HubSettings, port: int) -> None:
    """Run a demo hub with people, bots and matches to explore.

    The first start fills it, in the folder hub-demo unless CW_DATA is set.
    """
    if settings.data == HubSettings().data:
        settings = replace(settings, data=DEMO_FOLDER)

    def begin(resources: Resources) -> None:
        password = fill(resources)
        admin, *players, last = PEOPLE
        names = ", ".join((f"{admin} (an admin)", *players))
        click.echo(f"Log in as {names} or {last}, password {password}")

    run_hub(replace(settings, port=port), SLOTS, begin)


def announce(settings: HubSettings, address: str, *, sends_mails: bool) -> None:
    """Report the hub's URL: in the log if that is JSON, otherwise as text."""
    no_mails = sends_mails and not (settings.mail or settings.is_local)
    if is_json(settings):
        logger.info("Hub: %s", address, extra={"is_ours": True})
        if no_mails:
            logger.warning(NO_MAILS)
        return
    click.echo(f"Hub: {address}")
    if no_mails:
        click.echo(NO_MAILS, err=True)
    click.echo("Stop with Ctrl-C.", err=True)


def run_hub(
    settings: HubSettings, slots: int, begin: Callable[[Resources], None] = lambda _: None
) -> None:
    """Serve a hub until Ctrl-C, and play its matches in this process if there are slots."""
    begin_log(settings)
    make_private_folder(settings.data)
    with ExitStack() as stack:
        stack.enter_context(folder_locked(settings))
        listener = listen(settings.host, settings.port)
        settings = replace(settings, port=listener.getsockname()[1])
        resources = stack.enter_context(opened(settings, CeleryQueue(settings)))
        if slots or not settings.hosting:
            report_limits(settings)
        app = create_hub(resources, runs_programs=slots > 0 and not settings.players)
        begin(resources)
        if slots:
            stack.enter_context(everything(resources, slots))
        else:
            begin_heartbeat(resources, "pages")
        announce(settings, f"{address_of(listener)}/", sends_mails=slots > 0)
        run(app, listener)
    # Running matches have already been released, but a normal exit would wait for them.
    sys.stdout.flush()
    os._exit(0)


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
    default=",".join(MATCH_TYPES.names()),
    metavar="KIND,...",
    help="Types of matches that the worker plays, separated by commas.",
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
    unknown = [kind for kind in chosen if kind not in MATCH_TYPES.names()]
    if unknown:
        raise UsageError(
            f"--kinds takes one or more of {','.join(MATCH_TYPES.names())}, not {unknown[0]!r}"
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


@click.command()
def player() -> None:
    """Play what a hub sends on standard input; the hub, or its service, starts it.

    Reads no settings, and ends with its input.
    """
    main()
