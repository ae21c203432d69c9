"""What is done every few seconds: what is lost is taken back, what is due is sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final, TypeAlias

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from cw.hub import logs, origin
from cw.hub.jobs.clock_check import ClockCheck
from cw.hub.resources import Resources
from cw.hub.services import bot_health, formats, matches, upkeep
from cw.hub.services.matches import Message
from cw.hub.store.database import is_away

Step: TypeAlias = Callable[[Session, Resources], object]

STEPS: Final[tuple[Step, ...]] = (
    lambda session, _: matches.requeue(session),
    lambda session, resources: upkeep.sweep(session, resources.clock),
)
"""What a tick does before each format plans, each in a transaction of its own: two ticks at once do
nothing twice."""


class Ticker:
    """Ticks again and again, unless the clock of this machine goes wrong.

    Just after an outage of the database no match is taken from its worker: no lease could be
    renewed meanwhile.
    """

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Begin where the database has always answered; `elapsed` tells seconds."""
        self._elapsed = elapsed
        self._clock = ClockCheck(elapsed)
        self._reaps_from = elapsed()

    def tick(self, resources: Resources) -> None:
        """Do all that is due; raises what the database does."""
        try:
            if self._clock.is_right(resources):
                tick(resources, reaps=self._elapsed() >= self._reaps_from)
        except DBAPIError as error:
            if is_away(error):
                self._reaps_from = self._elapsed() + resources.settings.lease
            raise


def reap(session: Session, resources: Resources) -> None:
    """Take back what workers hold whose lease is over."""
    matches.reap(session, resources.clock)


def tick(resources: Resources, *, reaps: bool = True) -> None:
    """Do all that is due. Twice, late, by two at once: each step says what then happens.

    It has an id of its own, as a request has: what it plans and sends goes back to it.
    """
    with logs.about(request_id=origin.new_id()):
        do_steps(resources, reaps=reaps)


def do_steps(resources: Resources, *, reaps: bool) -> None:
    """Do all that is due, step by step."""
    for step in (reap, *STEPS) if reaps else STEPS:
        with resources.database.writing() as session:
            step(session, resources)
    for plan in formats.plannings():
        with resources.database.writing() as session:
            plan(session, resources.clock)
    send_due(resources)
    with resources.database.reading() as session:
        is_due = bot_health.any_due(session, resources.clock)
    if is_due:
        resources.queue.send(bot_health.SWEEP)


def send_due(resources: Resources) -> None:
    """Send the messages of the matches that wait; what cannot be sent is sent again later."""
    with resources.database.writing() as session:
        due = matches.to_send(session, resources.clock, lost_after(resources), formats.SENDING)
    if send(resources, due):
        send_own(resources)


def send_own(resources: Resources) -> None:
    """Send the messages of matches whose formats have an order of their own."""
    for sending in formats.sendings():
        with resources.database.writing() as session:
            due = sending(session, resources.clock, lost_after(resources))
        if not send(resources, due):
            return


def lost_after(resources: Resources) -> timedelta:
    """Return how long after its message a match that nobody has claimed is sent again."""
    return min(matches.LOST_AFTER, timedelta(seconds=resources.settings.lease))


def send(resources: Resources, due: Sequence[Message]) -> bool:
    """Send messages; False where the queue is away, and all of them will be sent again."""
    with resources.database.reading() as session:
        with_programs = matches.of_programs(session, [message.id for message in due])
    for message in due:
        queue = matches.PROGRAMS if message.id in with_programs else message.kind
        # Its job goes back to what planned the match, not to what happens to send it.
        with logs.about(request_id=message.request_id or origin.present_id()):
            is_sent = resources.queue.send(matches.PLAY, message.id, queue=queue)
        if not is_sent:
            with resources.database.writing() as session:
                matches.forget_messages(session)
            return False
    return True
