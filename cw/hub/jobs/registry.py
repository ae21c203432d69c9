"""The jobs by the names that messages have."""

from __future__ import annotations

from collections.abc import Mapping

from cw.hub.jobs.app import Job
from cw.hub.jobs.checks import check_bot, sweep_bots
from cw.hub.jobs.mail import MAIL, send_link
from cw.hub.jobs.play import Worker
from cw.hub.jobs.readiness import probe_bot
from cw.hub.services.bot_health import SWEEP
from cw.hub.services.bots import CHECK
from cw.hub.services.grader_bots import PROBE
from cw.hub.services.matches import PLAY


def jobs_of(worker: Worker) -> Mapping[str, Job]:
    """Return what a process does with each message."""
    return {
        PLAY: worker.play,
        CHECK: check_bot,
        SWEEP: sweep_bots,
        PROBE: probe_bot,
        MAIL: send_link,
    }
