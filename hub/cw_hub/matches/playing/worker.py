"""The worker: claims matches, plays them, and releases what it cannot play."""

from __future__ import annotations

import logging
import socket
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from cw import __version__
from cw_hub.bots.checks import jobs as checks
from cw_hub.bots.shares import checks as program_checks
from cw_hub.bots.shares import places
from cw_hub.bots.workshop import tasks, work
from cw_hub.matches import interruptions, sending
from cw_hub.matches.claims import Claim
from cw_hub.matches.kinds import Kinds
from cw_hub.matches.playing.attempt import AWAY_PAUSE, Attempt
from cw_hub.operation import upkeep
from cw_hub.operation.health import logs
from cw_hub.operation.health.clock_check import ClockCheck
from cw_hub.operation.resources import Resources
from cw_hub.store.database import is_away

logger = logging.getLogger(__name__)


def worker_name(pid: int, started_at: datetime) -> str:
    """Return the globally unique name of a worker process."""
    return f"{socket.gethostname()[:50]}:{pid}:{started_at:%Y%m%dT%H%M%S}"


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that plays matches."""

    name: str
    slots: int
    kinds: Kinds
    version: str = __version__
    runs_programs: bool = True
    """Whether it plays matches with uploaded programs; otherwise it leaves them to other
    workers.
    """
    clock: ClockCheck | None = None
    """None if the clock is trusted."""

    def play(self, resources: Resources, match: int) -> bool:
        """Play a match if it is waiting and may start; return whether it did. Job `play_match`."""
        claim = self.claimed(resources, match)
        if claim is None:
            return False
        with logs.about(match_id=claim.match_id, attempt=claim.attempt, worker=self.name):
            self.play_claimed(resources, claim)
        return True

    def play_claimed(self, resources: Resources, claim: Claim) -> None:
        """Play an attempt, or release it if this machine cannot run it."""
        if claim.has_programs and not self.runs_programs:
            with resources.database.writing() as session:
                interruptions.interrupt(session, claim, "it has programs, which are run elsewhere")
        else:
            logger.info(
                "playing %s, attempt %s",
                claim.match_id,
                claim.attempt,
                extra={"counted": "matches begun"},
            )
            Attempt(resources, claim, self.kinds, runs_programs=self.runs_programs).run()
            if claim.competition_id is not None and self.kinds.of(claim.kind).plans_next:
                sending.send_of(resources, claim.competition_id)

    def claimed(self, resources: Resources, match: int) -> Claim | None:
        """Claim a match.

        Waits while the database is away or the clock is wrong, so as not to use up a message.
        """
        while True:
            try:
                if self.clock is None or self.clock.is_right(resources):
                    with resources.database.writing() as session:
                        return self.claim_in(session, resources, match)
            except DBAPIError as error:
                if not is_away(error):
                    raise
                logger.warning("the database is away: %s", error.orig)
            time.sleep(AWAY_PAUSE)

    def claim_in(self, session: Session, resources: Resources, match: int) -> Claim | None:
        """Claim a match; one whose game is not installed here is left to other workers.

        Also returns None if it exceeds its owner's share, or the share of matches.
        """
        game = sending.pass_on(session, match)
        if game is not None:
            logger.warning("the game %s is not installed here: match %s is passed on", game, match)
            return None
        if self.runs_programs and self.must_wait(session, resources, match):
            sending.put_back(session, match)
            return None
        lease = timedelta(seconds=resources.settings.lease)
        return self.kinds.claim(session, resources.clock, match, self.name, lease)

    def must_wait(self, session: Session, resources: Resources, match: int) -> bool:
        """Return whether a match exceeds a share of the program slots."""
        experiments = self.kinds.experiments
        use = places.use_of_match(session, match, experiments)
        if use is None:
            return False
        is_experiment = use.kind == "test"
        refused = places.claim(
            session, resources.clock, use, experiments, is_experiment=is_experiment
        )
        return refused is not None

    def leave(self, resources: Resources) -> None:
        """Release the matches of a stopping process."""
        with resources.database.writing() as session:
            interruptions.interrupt_all_of(session, self.name, "its worker was stopped")
            tasks.lose_all_of(session, resources.clock, self.name)
            program_checks.leave(session, self.name)
            upkeep.forget_worker(session, self.name)

    def send_waiting(self, resources: Resources) -> None:
        """Send matches that wait for a program slot, as one is free now.

        While the database is away, the next tick does it.
        """
        try:
            work.send_next(resources)
            checks.send_waiting(resources)
            sending.send_refused(resources, tuple(self.kinds.sendings))
            sending.send_own(resources, self.kinds.sendings_at_ends)
        except DBAPIError as error:
            if not is_away(error):
                raise
