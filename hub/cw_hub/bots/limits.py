"""The resource limits of uploaded programs run by this process, as measured by a player."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from cw.arena.sandbox import bubblewrap, measured, shares
from cw.arena.sandbox.measured import ADVICE, SHARED, Measurement
from cw.errors import ArenaError
from cw_hub.operation.settings import HubSettings
from cw_hub.players.messages import Measure, Measured
from cw_hub.players.players import Players

logger = logging.getLogger(__name__)


def problem_here(settings: HubSettings) -> str:
    """Return why programs cannot be run in the sandbox within its limits, or ""."""
    return problem_of_sandbox(settings) or problem_of_limits(settings)


def problem_of_sandbox(settings: HubSettings) -> str:
    """Return why programs cannot be sandboxed where players run, or ""."""
    if not settings.players:
        return bubblewrap.problem() or ""
    try:
        return measured_by_player(settings.players, settings.data.absolute()).problem
    except ArenaError as error:
        return str(error)


def problem_of_limits(settings: HubSettings) -> str:
    """Return which limits a site open to strangers lacks; "" if none, or if the site is local."""
    if not settings.public_url or problem_of_sandbox(settings):
        return ""
    free = free_of_limits(settings)
    return f"nothing on this machine limits the {free} of a program" if free else ""


def free_of_limits(settings: HubSettings) -> str:
    """Return which shared resources a program could exhaust, or ""."""
    if not settings.players:
        return measured.unbounded()
    free = (limit.name for limit in limits_of(settings) if not limit.by)
    return " and ".join(SHARED[name] for name in free if name in SHARED)


def limits_of(settings: HubSettings) -> Sequence[Measurement]:
    """Return the limits of programs, measured once per process; empty without a sandbox."""
    if problem_of_sandbox(settings):
        return ()
    private = settings.data.absolute()
    if settings.players:
        return measured_by_player(settings.players, private).limits
    return measured.measured((private,))


@cache
def measured_by_player(place: str, private: Path) -> Measured:
    """Return the measurements of a player behind a socket; raise ArenaError if none answers."""
    with closing(Players(place)) as players, players.play(Measure((str(private),))) as play:
        return next(message for message in play if isinstance(message, Measured))


def report_limits(settings: HubSettings) -> None:
    """Log the limits of programs, before the first program is run."""
    if problem := problem_of_sandbox(settings):
        if settings.players:
            logger.error("no programs are run: %s", problem)
        return
    if not settings.public_url:
        free = free_of_limits(settings) if settings.players else shares.free_of_bounds()
        if free:
            logger.warning("nothing limits the %s of a program here: %s", free, ADVICE)
        return
    for limit in limits_of(settings):
        level = logging.INFO if limit.by else logging.WARNING
        logger.log(level, "programs: %s: %s", limit.name, limit.sentence)
    if problem := problem_of_limits(settings):
        logger.error("no programs are run here: %s; %s", problem, ADVICE)
