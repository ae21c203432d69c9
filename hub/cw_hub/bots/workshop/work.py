"""The worker's side of workshop tasks: a player carries them out, the worker records reports."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Final

from cw.errors import ArenaError, UsageError
from cw_hub.bots import programs
from cw_hub.bots.addresses import isolation_of
from cw_hub.bots.seats import PROGRAM, ClaimedSeat
from cw_hub.bots.workshop import tasks
from cw_hub.bots.workshop.builds import PROGRAMS
from cw_hub.bots.workshop.tasks import Claim
from cw_hub.operation.queue import WORKSHOP
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import DRAFT, MATCH, Built, Done, Draft, FromPlayer, News, Program
from cw_hub.store.archives import file_at
from cw_hub.store.tables import TaskKind

DO: Final = "workshop_task"
"""The job that carries out the next task, whichever it is."""

LONGEST: Final[Mapping[TaskKind, float]] = {"run": 300, "ask": 120, "series": 1800, "check": 300}
"""Maximum duration of a task in seconds, including its compiler."""

OUR_FAULT: Final = "an error of the site"

logger = logging.getLogger(__name__)


def do_next(resources: Resources, *, worker: str, experiments: Collection[str] = ()) -> bool:
    """Carry out the next task; return whether one could begin."""
    with resources.database.writing() as session:
        claim = tasks.claim(session, resources.clock, worker, experiments)
    if claim is None:
        return False
    do(resources, claim, experiments)
    return True


def send_next(resources: Resources) -> None:
    """Have a worker look for a task again, as one that was refused may be able to begin."""
    with resources.database.reading() as session:
        if not tasks.any_waits(session):
            return
    with resources.database.writing() as session:
        tasks.take_refused(session, resources.clock)
    resources.queue.send(DO, queue=WORKSHOP)


def send_lost(resources: Resources) -> None:
    """Send unclaimed tasks again whose messages may be lost; concurrent calls send each once."""
    with resources.database.writing() as session:
        count = tasks.take_due(session, resources.clock)
    for _ in range(count):
        resources.queue.send(DO, queue=WORKSHOP)


def do(resources: Resources, claim: Claim, experiments: Collection[str]) -> None:
    """Carry out a task until it ends or is to stop; none of its processes outlives the call."""
    try:
        with resources.players.play(draft_of(resources, claim), sent(resources, claim)) as play:
            follow(resources, claim, play, experiments)
    except ArenaError as error:
        give_up(resources, claim, str(error))
    except Exception:
        logger.exception("the %s %s of the workshop", claim.kind, claim.id)
        give_up(resources, claim, OUR_FAULT)


def give_up(resources: Resources, claim: Claim, cause: str) -> None:
    """End a task that cannot be carried out."""
    with resources.database.writing() as session:
        tasks.finish(session, resources.clock, claim, news_of(None), cause)


def follow(
    resources: Resources,
    claim: Claim,
    play: Iterable[FromPlayer],
    experiments: Collection[str],
) -> None:
    """Record a player's reports on a task, until it ends or is to stop."""
    for message in play:
        if isinstance(message, Built):
            PROGRAMS.keep(claim.request["language"], digest_of(claim), message.data)
        elif isinstance(message, Done):
            with resources.database.writing() as session:
                tasks.finish(session, resources.clock, claim, news_of(message.news), message.cause)
        elif not goes_on(resources, claim, message, experiments):
            return


def goes_on(
    resources: Resources, claim: Claim, message: FromPlayer, experiments: Collection[str]
) -> bool:
    """Record a report on a task; return whether the task continues."""
    if isinstance(message, News):
        with resources.database.writing() as session:
            is_claimed = tasks.beat(session, resources.clock, claim, news_of(message))
    else:
        with resources.database.reading() as session:
            is_claimed = tasks.is_claimed(session, claim)
    is_series = claim.kind == "series"
    return is_claimed and not (is_series and has_given_way(resources, claim, experiments))


def news_of(news: News | None) -> tasks.News:
    """Return the report in the form in which it is recorded."""
    return tasks.News(None) if news is None else tasks.News(news.report, news.pieces)


def has_given_way(resources: Resources, claim: Claim, experiments: Collection[str]) -> bool:
    """Requeue a series if it keeps anything else waiting; return whether it does."""
    with resources.database.reading() as session:
        if not tasks.keeps_others_waiting(session, resources.clock, experiments):
            return False
    with resources.database.writing() as session:
        tasks.give_way(session, resources.clock, claim)
    return True


def digest_of(claim: Claim) -> str:
    """Return the SHA-256 of the files of a draft."""
    return sha256(claim.source).hexdigest()


def draft_of(resources: Resources, claim: Claim) -> Draft:
    """Return a task in the form sent to a player.

    Raises UsageError if no programs are run here, or if something it needs was deleted meanwhile.
    """
    if problem := programs.why_none(resources.settings):
        raise UsageError(problem)
    request = claim.request
    replay: bytes | None = None
    asked: tuple[bytes, ...] = ()
    player = ""
    if claim.kind == "run" and (key := request.get("replay")) is not None:
        replay = file_at(resources.objects, key)
        if replay is None:
            raise UsageError("this replay was deleted: choose another one")
    if claim.kind == "ask":
        asked, player = run_of(resources, claim)
    return Draft(
        claim.kind,
        claim.draft.game,
        isolation_of(resources.settings, "require"),
        request,
        LONGEST[claim.kind],
        PROGRAMS.find(request["language"], digest_of(claim)),
        replay,
        asked,
        player,
        claim.report,
    )


def run_of(resources: Resources, claim: Claim) -> tuple[tuple[bytes, ...], str]:
    """Return the pieces of the run that a bot is asked about, and the bot's player in it.

    Raises UsageError if another run has replaced it.
    """
    with resources.database.reading() as session:
        run = tasks.find(session, claim.draft, "run")
        pieces = tasks.pieces_of(session, run.id, MATCH) if run else []
    if run is None or not pieces or run.id != claim.request["run"]:
        raise UsageError("the run that was shown was deleted: run the bot again")
    return tuple(pieces), str(run.report["player"])


def sent(resources: Resources, claim: Claim) -> Iterator[Program]:
    """Yield a draft as it was queued, and the program version that it plays against, if any."""
    yield Program(DRAFT, claim.source)
    version = claim.request.get("version")
    if version is not None:
        hosting = programs.hosting_of_people(resources.settings)
        if hosting == "off":
            raise UsageError(programs.NO_PROGRAMS)
        spec = f"{PROGRAM}{version['sha256']}"
        seat = ClaimedSeat(claim.request["opponent"], spec, version["bot_id"])
        yield from programs.sent(resources.objects, [seat], hosting)
