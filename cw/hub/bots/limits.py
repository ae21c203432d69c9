"""What limits uploaded programs where this process has them run, as a player measures it there."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from cw.arena.sandbox import bubblewrap, measured, shares
from cw.arena.sandbox.measured import ADVICE, SHARED, Measurement
from cw.errors import ArenaError
from cw.hub.operation.settings import HubSettings
from cw.hub.players.messages import Measure, Measured
from cw.hub.players.players import Players

logger = logging.getLogger(__name__)


def problem_here(settings: HubSettings) -> str:
    """Return why programs cannot be run in the sandbox, within its limits; "" if they can."""
    return problem_of_sandbox(settings) or problem_of_limits(settings)


def problem_of_sandbox(settings: HubSettings) -> str:
    """Return why programs cannot be isolated where players run; "" if they can."""
    if not settings.players:
        return bubblewrap.problem() or ""
    try:
        return measured_by_player(settings.players, settings.data.absolute()).problem
    except ArenaError as error:
        return str(error)


def problem_of_limits(settings: HubSettings) -> str:
    """Return which limits a site for strangers lacks; "" for none, and for a local site."""
    if not settings.public_url or problem_of_sandbox(settings):
        return ""
    free = free_of_limits(settings)
    return f"nothing on this machine limits the {free} of a program" if free else ""


def free_of_limits(settings: HubSettings) -> str:
    """Return what a program could take from everybody else; "" for nothing."""
    if not settings.players:
        return measured.unbounded()
    free = (limit.name for limit in limits_of(settings) if not limit.by)
    return " and ".join(SHARED[name] for name in free if name in SHARED)


def limits_of(settings: HubSettings) -> Sequence[Measurement]:
    """Return what limits programs, measured once for each process; nothing without a sandbox."""
    if problem_of_sandbox(settings):
        return ()
    private = settings.data.absolute()
    if settings.players:
        return measured_by_player(settings.players, private).limits
    return measured.measured((private,))


@cache
def measured_by_player(place: str, private: Path) -> Measured:
    """Return what a player behind a socket has measured; raise ArenaError if none answers."""
    with closing(Players(place)) as players, players.play(Measure((str(private),))) as play:
        return next(message for message in play if isinstance(message, Measured))


def report_limits(settings: HubSettings) -> None:
    """Log what limits programs, before the first of them is run."""
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
