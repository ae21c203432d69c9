"""What is done every few seconds, step by step; the subjects say what the steps are."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy.exc import DBAPIError

from cw.errors import Failure
from cw.hub import origin
from cw.hub.operation.health import logs, marks
from cw.hub.operation.health.clock_check import ClockCheck
from cw.hub.operation.resources import Resources
from cw.hub.store.database import is_away

logger = logging.getLogger(__name__)

Step: TypeAlias = Callable[[Resources], object]
"""Does what is due, in transactions of its own. Twice, late, by two at once: it says what then
happens."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a tick, in their order."""

    reaping: Sequence[Step]
    """Those that take back what was not renewed in time; they come first."""
    steps: Sequence[Step]

    def do(self, resources: Resources, *, reaps: bool = True) -> None:
        """Do all that is due; a step that fails keeps none of the others from it.

        It has an id of its own, as a request has: what it plans and sends goes back to it. Raises
        Failure after the last step if any has failed, and at once what the database raises.
        """
        with logs.about(request_id=origin.new_id()):
            steps = (*self.reaping, *self.steps) if reaps else self.steps
            failed = sum(not succeeds(step, resources) for step in steps)
        if failed:
            raise Failure(f"{failed} of {len(steps)} steps of a tick have failed")


def succeeds(step: Step, resources: Resources) -> bool:
    """Do a step; return whether it has succeeded, and log why not."""
    try:
        step(resources)
    except DBAPIError:
        raise
    except Exception:
        logger.exception("a step of a tick has failed")
        return False
    return True


class Ticker:
    """Ticks again and again, unless the clock of this machine goes wrong.

    Just after an outage of the database nothing is taken back that was not renewed: no lease could
    be renewed meanwhile.
    """

    def __init__(self, steps: Steps, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Begin where the database has always answered; `elapsed` tells seconds."""
        self._steps = steps
        self._elapsed = elapsed
        self._clock = ClockCheck(elapsed)
        self._reaps_from = elapsed()

    def tick(self, resources: Resources) -> None:
        """Do all that is due; raises what the database does."""
        try:
            if self._clock.is_right(resources):
                self._steps.do(resources, reaps=self._elapsed() >= self._reaps_from)
                with resources.database.writing() as session:
                    marks.note(session, marks.TICK, resources.clock())
        except DBAPIError as error:
            if is_away(error):
                # All leases end in an outage that is longer than they are, though all workers live
                # (decisions 0008).
                self._reaps_from = self._elapsed() + resources.settings.lease
            raise
