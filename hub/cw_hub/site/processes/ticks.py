"""The tick of a site: recover lost work, let formats plan, and send what is due."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy.orm import Session

from cw_hub.accounts import places
from cw_hub.accounts.mails import outbox
from cw_hub.bots.checks import health
from cw_hub.bots.checks.jobs import send_waiting
from cw_hub.bots.versions import lost
from cw_hub.bots.workshop import tasks, work
from cw_hub.clock import Clock
from cw_hub.competitions import timetable
from cw_hub.competitions.format import Format, kinds_of
from cw_hub.matches import interruptions, sending
from cw_hub.matches.comparisons import progress as comparisons
from cw_hub.operation import upkeep
from cw_hub.operation.queue import SWEEPS
from cw_hub.operation.resources import Resources
from cw_hub.operation.tick import Step, Steps
from cw_hub.site.formats import FORMATS


def steps_of(formats: Sequence[Format]) -> Steps:
    """Return the steps of a tick for a site with these formats."""
    own = kinds_of(formats).sendings
    plans = [in_transaction(format_.plan) for format_ in formats]
    return Steps(
        [in_transaction(interruptions.reap)],
        [
            in_transaction(lambda session, _: interruptions.requeue(session)),
            in_transaction(upkeep.sweep),
            in_transaction(places.sweep),
            in_transaction(outbox.sweep),
            in_transaction(lambda session, clock: timetable.sweep(session, clock, formats)),
            *plans,
            in_transaction(comparisons.sweep),
            lambda resources: sending.send_due(resources, own),
            sweep_bots,
            lost.send_again,
            in_transaction(tasks.sweep),
            work.send_lost,
            send_waiting,
        ],
    )


def in_transaction(verb: Callable[[Session, Clock], object]) -> Step:
    """Return a function as a step in its own transaction, safe for concurrent ticks."""

    def step(resources: Resources) -> None:
        with resources.database.writing() as session:
            verb(session, resources.clock)

    return step


def sweep_bots(resources: Resources) -> None:
    """Request the sweep of the bots whose health check is due."""
    with resources.database.reading() as session:
        is_due = health.any_due(session, resources.clock)
    if is_due:
        resources.queue.send(health.SWEEP, queue=SWEEPS)


def tick(resources: Resources, formats: Sequence[Format] = FORMATS, *, reaps: bool = True) -> None:
    """Run all steps once."""
    steps_of(formats).do(resources, reaps=reaps)
