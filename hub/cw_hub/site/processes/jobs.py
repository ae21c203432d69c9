"""Jobs by the names used in messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from cw_hub.accounts.mails.delivery import MAIL, send_mail
from cw_hub.bots.checks.health import SWEEP
from cw_hub.bots.checks.jobs import check_bot, sweep_bots
from cw_hub.bots.verbs import CHECK
from cw_hub.bots.workshop import work
from cw_hub.competitions.format import Format, hosting_by
from cw_hub.matches.playing.worker import Worker
from cw_hub.matches.sending import PLAY
from cw_hub.operation.queue import Job
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import FORMATS


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
