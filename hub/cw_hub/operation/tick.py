"""What is done every few seconds, step by step; the steps are defined by the domains."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy.exc import DBAPIError

from cw.errors import Failure
from cw_hub import origin
from cw_hub.operation.health import logs, marks
from cw_hub.operation.health.clock_check import ClockCheck
from cw_hub.operation.resources import Resources
from cw_hub.store.database import is_away

logger = logging.getLogger(__name__)

Step: TypeAlias = Callable[[Resources], object]
"""Does what is due, in its own transactions. Each step documents what happens if it runs twice,
late, or concurrently.
"""


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a tick, in order."""

    reaping: Sequence[Step]
    """Steps that revoke leases not renewed in time; they run first."""
    steps: Sequence[Step]

    def do(self, resources: Resources, *, reaps: bool = True) -> None:
        """Do all that is due; a failed step does not stop the others.

        A tick has a request id of its own, which everything it plans and sends refers to. Raises
        Failure after the last step if any has failed, but database errors at once.
        """
        with logs.about(request_id=origin.new_id()):
            steps = (*self.reaping, *self.steps) if reaps else self.steps
            failed = sum(not succeeds(step, resources) for step in steps)
        if failed:
            raise Failure(f"{failed} of {len(steps)} steps of a tick have failed")


def succeeds(step: Step, resources: Resources) -> bool:
    """Run a step; return whether it succeeded, and log the error if not."""
    try:
        step(resources)
    except DBAPIError:
        raise
    except Exception:
        logger.exception("a step of a tick has failed")
        return False
    return True


class Ticker:
    """Ticks repeatedly, unless the clock of this machine is wrong.

    Just after an outage of the database no leases are revoked: none could be renewed meanwhile.
    """

    def __init__(self, steps: Steps, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Assume no outage so far; `elapsed` returns seconds."""
        self._steps = steps
        self._elapsed = elapsed
        self._clock = ClockCheck(elapsed)
        self._reaps_from = elapsed()

    def tick(self, resources: Resources) -> None:
        """Do all that is due; database errors propagate."""
        try:
            if self._clock.is_right(resources):
                self._steps.do(resources, reaps=self._elapsed() >= self._reaps_from)
                with resources.database.writing() as session:
                    marks.note(session, marks.TICK, resources.clock())
        except DBAPIError as error:
            if is_away(error):
                # An outage longer than a lease lets all leases expire, though all workers are live
                # (decisions 0008).
                self._reaps_from = self._elapsed() + resources.settings.lease
            raise
