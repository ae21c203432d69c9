"""The worker: claims matches, plays them, and gives back what it cannot play."""

from __future__ import annotations

import logging
import socket
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from cw import __version__
from cw.hub.bots.workshop import tasks
from cw.hub.matches import interruptions
from cw.hub.matches.claims import Claim
from cw.hub.matches.kinds import Kinds
from cw.hub.matches.playing import fair_use
from cw.hub.matches.playing.attempt import AWAY_PAUSE, Attempt
from cw.hub.matches.sending import pass_on, send_of, send_own
from cw.hub.operation import upkeep
from cw.hub.operation.health import logs
from cw.hub.operation.health.clock_check import ClockCheck
from cw.hub.operation.resources import Resources
from cw.hub.store.database import is_away

logger = logging.getLogger(__name__)


def worker_name(pid: int, started_at: datetime) -> str:
    """Return the name of a worker process: no other one bears it, here or elsewhere."""
    return f"{socket.gethostname()[:50]}:{pid}:{started_at:%Y%m%dT%H%M%S}"


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that plays matches."""

    name: str
    slots: int
    kinds: Kinds
    version: str = __version__
    runs_programs: bool = True
    """Whether it plays matches of uploaded programs; another one is left to those that do."""
    ends_itself: bool = False
    """Whether the process may end itself where a match hangs: nothing else runs in it."""
    clock: ClockCheck | None = None
    """None: the clock is right."""

    def play(self, resources: Resources, match: int) -> None:
        """Play a match, if it waits; the job `play_match`."""
        claim = self.claimed(resources, match)
        if claim is None:
            return
        with logs.about(match_id=claim.match_id, attempt=claim.attempt, worker=self.name):
            self.play_claimed(resources, claim)

    def play_claimed(self, resources: Resources, claim: Claim) -> None:
        """Play an attempt, or give back what this machine does not run."""
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
            Attempt(
                resources, claim, self.kinds, self.ends_itself, runs_programs=self.runs_programs
            ).run()
            self.send_next(resources, claim)

    def claimed(self, resources: Resources, match: int) -> Claim | None:
        """Claim a match.

        While the database is away or the clock goes wrong, wait: no message shall be used up for
        that.
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

        None, too, where its owner has to let others play first.
        """
        game = pass_on(session, match)
        if game is not None:
            logger.warning("the game %s is not installed here: match %s is passed on", game, match)
            return None
        if fair_use.gives_way(session, match, self.kinds.experiments):
            return None
        if fair_use.must_wait(session, resources.clock, match):
            return None
        lease = timedelta(seconds=resources.settings.lease)
        return self.kinds.claim(session, resources.clock, match, self.name, lease)

    def leave(self, resources: Resources) -> None:
        """Give back what is played, as the process is told to end."""
        with resources.database.writing() as session:
            interruptions.interrupt_all_of(session, self.name, "its worker was stopped")
            tasks.lose_all_of(session, resources.clock, self.name)
            upkeep.forget_worker(session, self.name)

    def send_next(self, resources: Resources, claim: Claim) -> None:
        """Send what may be played now that a match is over.

        While the database is away that is left to the next tick.
        """
        if claim.competition_id is None:
            return
        try:
            send_own(resources, self.kinds.sendings_at_ends)
            if self.kinds.of(claim.kind).plans_next:
                send_of(resources, claim.competition_id)
        except DBAPIError as error:
            if not is_away(error):
                raise
