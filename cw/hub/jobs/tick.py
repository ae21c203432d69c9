"""What is done every few seconds: what is lost is taken back, what is due is sent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final, TypeAlias

from sqlalchemy.orm import Session

from cw.hub.resources import Resources
from cw.hub.services import matches, upkeep

Step: TypeAlias = Callable[[Session, Resources], object]

STEPS: Final[tuple[Step, ...]] = (
    lambda session, resources: matches.reap(session, resources.clock),
    lambda session, _: matches.requeue(session),
    lambda session, resources: upkeep.sweep(session, resources.clock),
)
"""What a tick does, each in a transaction of its own: two ticks at once do nothing twice."""


def tick(resources: Resources) -> None:
    """Do all that is due. Twice, late, by two at once: each step says what then happens."""
    for step in STEPS:
        with resources.database.writing() as session:
            step(session, resources)
    send_due(resources)


def send_due(resources: Resources) -> None:
    """Send the messages of the matches that wait; what cannot be sent is sent again later."""
    lease = timedelta(seconds=resources.settings.lease)
    with resources.database.writing() as session:
        due = matches.to_send(session, resources.clock, min(matches.LOST_AFTER, lease))
    for message in due:
        if not resources.queue.send(matches.PLAY, message.id, queue=message.kind):
            with resources.database.writing() as session:
                matches.forget_messages(session)
            return
