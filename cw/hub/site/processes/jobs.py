"""Jobs by the names used in messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from cw.hub.accounts.mails.delivery import MAIL, send_mail
from cw.hub.bots.checks.health import SWEEP
from cw.hub.bots.checks.jobs import check_bot, sweep_bots
from cw.hub.bots.verbs import CHECK
from cw.hub.bots.workshop import work
from cw.hub.competitions.format import Format, hosting_by
from cw.hub.matches.playing.worker import Worker
from cw.hub.matches.sending import PLAY
from cw.hub.operation.queue import Job
from cw.hub.operation.resources import Resources
from cw.hub.site.formats import FORMATS


def jobs_of(worker: Worker, formats: Sequence[Format] = FORMATS) -> Mapping[str, Job]:
    """Return the job for each message."""
    own = {name: job for format_ in formats for name, job in format_.jobs.items()}
    name, experiments = worker.name, worker.kinds.experiments
    check = partial(check_bot, hosting_of=hosting_by(formats), worker=name, experiments=experiments)
    return {
        PLAY: freeing(worker, worker.play),
        CHECK: freeing(worker, check),
        SWEEP: sweep_bots,
        MAIL: send_mail,
        work.DO: freeing(worker, partial(work.do_next, worker=name, experiments=experiments)),
        **own,
    }


def freeing(worker: Worker, run: Callable[..., bool]) -> Job:
    """Return a job that afterwards retries whatever waited for a program slot.

    It does not after being refused itself: it would be retried at once, endlessly.
    """

    def job(resources: Resources, *arguments: int | str) -> None:
        has_run = True
        try:
            has_run = run(resources, *arguments)
        finally:
            if has_run:
                worker.send_waiting(resources)

    return job
