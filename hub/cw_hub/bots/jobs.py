"""Jobs that check bots, by the steps of their games' protocols, and carry out workshop tasks."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from threading import Lock
from typing import Any, Final, TypeAlias

from cachetools import LRUCache

from cw.arena.bots import SECRET_SETTINGS, BotSpec
from cw.arena.transports.base_address import check_base
from cw.errors import ArenaError, UsageError
from cw_hub.bots import checks, health, programs, shares, workshop
from cw_hub.bots.addresses import (
    INSECURE,
    PROGRAM,
    ClaimedSeat,
    address_problem,
    isolation_of,
)
from cw_hub.bots.health import CheckTarget, HostingOf, always_sandboxed
from cw_hub.bots.programs import hosting_here, sandbox_of
from cw_hub.bots.service import CHECK
from cw_hub.bots.workshop import Claim
from cw_hub.operation import logs
from cw_hub.operation.queue import PROGRAMS, WORKSHOP
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import (
    DRAFT,
    MATCH,
    Answered,
    Answers,
    Ask,
    Built,
    Check,
    Done,
    Draft,
    FromPlayer,
    Kind,
    News,
    Program,
    Question,
)
from cw_hub.players.players import Defect, Distrusted
from cw_hub.store.database import Session
from cw_hub.store.objects import file_at

logger = logging.getLogger(__name__)

Step: TypeAlias = Mapping[str, Any]

UNFINISHED: Final[Step] = {
    "step": "program",
    "ok": False,
    "problem": "The check could not be finished because of an error on the site.",
    "fix": "Check the bot again.",
}


def check_bot(  # noqa: PLR0913 - who has asked for it, and where it runs
    resources: Resources,
    bot: int,
    owner: str = "",
    visitor: str = "",
    *,
    worker: str = "",
    experiments: Collection[str] = (),
    hosting_of: HostingOf = always_sandboxed,
) -> bool:
    """Run a full check of a bot; return whether a program was run.

    The result is discarded if the bot has changed in the meantime. Afterwards `owner` and `visitor`
    may request their next check. A program that exceeds its owner's share of the slots waits.
    """
    try:
        with resources.database.reading() as session:
            target = health.check_target(session, bot, hosting_of)
        if target is None or target.seat is None:
            check_now(resources, bot, hosting_of)
            forget_waiting(resources, bot)
            return False
        with resources.database.writing() as session:
            if not shares.begin(session, bot, worker, experiments):
                return False
        try:
            check_now(resources, bot, hosting_of)
        finally:
            with resources.database.writing() as session:
                shares.end(session, bot)
        return True
    finally:
        checks.release(resources.rate_counts, owner, visitor)


def send_waiting(resources: Resources) -> None:
    """Queue the checks of programs that wait for a slot. Idempotent."""
    with resources.database.reading() as session:
        if not shares.any_waits(session):
            return
    with resources.database.writing() as session:
        due = shares.take_due(session)
    for bot in due:
        resources.queue.send(CHECK, bot, queue=PROGRAMS)


def forget_waiting(resources: Resources, bot: int) -> None:
    """Delete the waiting check of a bot that no longer has a program."""
    with resources.database.reading() as session:
        waits = shares.any_waits(session)
    if waits:
        with resources.database.writing() as session:
            shares.forget(session, bot)


def check_now(resources: Resources, bot: int, hosting_of: HostingOf) -> None:
    """Run a full check of a bot and record it; for a program, check every waiting version."""
    while True:
        with resources.database.reading() as session:
            target = health.check_target(session, bot, hosting_of)
        if target is None:
            return
        logs.add_fields(bot_id=target.bot_id)
        try:
            steps = steps_of(resources, target)
        except (Distrusted, Defect) as error:
            logger.error("the check of %s: %s", target.bot_id, error)
            steps = [UNFINISHED]
        if steps is None or not (note(resources, target, steps) and target.is_waiting):
            return


def steps_of(resources: Resources, target: CheckTarget) -> Sequence[Step] | None:
    """Return the steps of a full check, or None if the bot cannot be checked now."""
    if target.seat is not None:
        return steps_of_program(resources, target, target.seat)
    return next((steps for _, steps in asked(resources, [target])), None)


def steps_of_program(
    resources: Resources, target: CheckTarget, seat: ClaimedSeat
) -> Sequence[Step]:
    """Run an upload through the steps of `cw check`; one step fails if programs are off here."""
    settings = resources.settings
    chosen, tournament, options = target.hosting
    isolation = isolation_of(settings, sandbox_of(settings, tournament))
    hosting = hosting_here(settings, tournament, chosen)
    if hosting == "off":
        return [{"step": "program", "ok": False, "problem": programs.NO_PROGRAMS, "fix": ""}]
    seats = [seat]
    task = Check(target.game, programs.placeholder(seat, hosting), isolation, dict(options))
    steps: Sequence[Step] = ()
    sent = programs.sent(resources.objects, seats, hosting)
    with resources.players.play(task, sent) as play:
        for message in play:
            if isinstance(message, Built):
                programs.store_built(resources.objects, seats, message)
            elif isinstance(message, Answers):
                steps = message.steps
    return [*programs.warning_steps(resources.objects, programs.key_of(seat)), *steps]


def sweep_bots(resources: Resources) -> None:
    """Run health checks of all bots that are due, and full checks of new bots.

    With concurrent callers, each bot is checked by only one of them.
    """
    every = timedelta(seconds=resources.settings.health_every)
    with resources.database.writing() as session:
        due = health.take_due(session, every)
    with resources.database.reading() as session:
        due = [target for target in due if may_be_asked(session, resources, target)]
    for target, steps in asked(resources, due, health_alone=True):
        note(resources, target, steps, health_alone=target.is_known)


def may_be_asked(session: Session, resources: Resources, target: CheckTarget) -> bool:
    """Return whether a bot may be checked now.

    Active bots always may, because they are known to be bots; others only within the limits.
    """
    if target.status == "ACTIVE":
        return True
    requests = checks.ONE if target.is_known else checks.CHECK
    return checks.may_claim(session, resources.rate_counts, target.owner, target.endpoint, requests)


def note(
    resources: Resources, target: CheckTarget, steps: Sequence[Step], *, health_alone: bool = False
) -> bool:
    """Record a check result; return False if it came too late."""
    with resources.database.writing() as session:
        if health_alone:
            return health.note_health(session, target, steps)
        return health.note_check(session, target, steps)


def asked(
    resources: Resources, targets: Sequence[CheckTarget], *, health_alone: bool = False
) -> Iterator[tuple[CheckTarget, Sequence[Step]]]:
    """Check bots concurrently; yield each with its steps as soon as it has responded.

    Bots that cannot be checked through no fault of their own are omitted. With `health_alone`, bots
    known to speak the protocol only get a health check.
    """
    others: list[CheckTarget] = []
    for target in targets:
        if problem := refusal_of(resources, target):
            yield target, [{"step": "address", "ok": False, "problem": problem, "fix": ""}]
        else:
            others.append(target)
    if not others:
        return
    questions = (
        question_of(resources, target, health_alone=health_alone and target.is_known)
        for target in others
    )
    with resources.players.play(Ask(tuple(questions))) as play:
        for message in play:
            if not isinstance(message, Answered):
                continue
            target = others[message.number]
            if message.steps is not None:
                yield target, message.steps
            else:
                about = {"bot_id": target.bot_id}
                logger.error(
                    "the bot %s cannot be asked: %s", target.bot_id, message.trouble, extra=about
                )


def refusal_of(resources: Resources, target: CheckTarget) -> str:
    """Return why a bot's URL is not called, as a message for users, or "" if it is."""
    settings = resources.settings
    if address_problem(target.endpoint, settings, is_house=target.is_house) == INSECURE:
        return INSECURE
    try:
        check_base(target.endpoint)
    except UsageError as error:
        return str(error)
    return ""


def question_of(resources: Resources, target: CheckTarget, *, health_alone: bool) -> Question:
    """Return the question with which a player process checks a bot."""
    sealed = target.secret
    secret = resources.sealer.open(sealed, target.secret_row).decode() if sealed.data else ""
    settings = {**target.settings, "bot_id": target.bot_id}
    bot = BotSpec(target.name, "http", check_base(target.endpoint), settings)
    return Question(
        target.game,
        bot,
        dict.fromkeys(SECRET_SETTINGS, secret) if secret else {},
        isolation_of(resources.settings, house=[bot.name] if target.is_house else ()),
        target.owner,
        health_alone,
    )


# Workshop tasks


MOST_BYTES: Final = 64 * 1024 * 1024
"""Maximum bytes of cached drafts: a hundred typical ones, or two of the largest."""


class CompiledDrafts:
    """A cache of compiled drafts by language and sources."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        """Set the maximum number of bytes."""
        self._lock = Lock()
        self._programs = LRUCache[tuple[str, str], bytes](most, getsizeof=len)

    def find(self, language: str, digest: str) -> bytes | None:
        """Return the program compiled from sources with a digest, or None if it is not cached."""
        with self._lock:
            return self._programs.get((language, digest))

    def keep(self, language: str, digest: str, program: bytes) -> None:
        """Cache a program, evicting the least recently used ones if necessary."""
        with self._lock:
            if len(program) <= self._programs.maxsize:
                self._programs[language, digest] = program


COMPILED: Final = CompiledDrafts()


LONGEST: Final[Mapping[Kind, float]] = {"run": 300, "ask": 120, "series": 1800, "check": 300}
"""Maximum duration of a task in seconds, including its compiler."""

OUR_FAULT: Final = "an error of the site"


def do_next_task(resources: Resources, *, worker: str, experiments: Collection[str] = ()) -> bool:
    """Carry out the next task until it ends or must stop; return whether one could start.

    None of its processes outlives the call.
    """
    with resources.database.writing() as session:
        claim = workshop.claim_task(session, worker, experiments)
    if claim is None:
        return False
    try:
        task, sent = draft_of(resources, claim), sent_for_task(resources, claim)
        with resources.players.play(task, sent) as play:
            follow_task(resources, claim, play, experiments)
    except ArenaError as error:
        give_up_task(resources, claim, str(error))
    except Exception:
        logger.exception("the %s %s of the workshop", claim.kind, claim.id)
        give_up_task(resources, claim, OUR_FAULT)
    return True


def send_next_task(resources: Resources) -> None:
    """Have a worker look for a task again, as one that was refused may now be able to start."""
    with resources.database.reading() as session:
        if not workshop.any_waits(session):
            return
    with resources.database.writing() as session:
        workshop.take_refused(session)
    resources.queue.send(workshop.DO, queue=WORKSHOP)


def send_lost_tasks(resources: Resources) -> None:
    """Resend unclaimed tasks whose messages may be lost; concurrent calls send each once."""
    with resources.database.writing() as session:
        count = workshop.take_due(session)
    for _ in range(count):
        resources.queue.send(workshop.DO, queue=WORKSHOP)


def give_up_task(resources: Resources, claim: Claim, cause: str) -> None:
    """End a task that cannot be carried out."""
    with resources.database.writing() as session:
        workshop.finish(session, claim, News(None), cause)


def follow_task(
    resources: Resources,
    claim: Claim,
    play: Iterable[FromPlayer],
    experiments: Collection[str],
) -> None:
    """Record a player's reports on a task, until it ends or must stop."""
    for message in play:
        if isinstance(message, Built):
            COMPILED.keep(claim.request["language"], digest_of(claim), message.data)
        elif isinstance(message, Done):
            with resources.database.writing() as session:
                workshop.finish(session, claim, message.news or News(None), message.cause)
        elif not goes_on(resources, claim, message, experiments):
            return


def goes_on(
    resources: Resources, claim: Claim, message: FromPlayer, experiments: Collection[str]
) -> bool:
    """Record a report on a task; return whether the task continues."""
    if isinstance(message, News):
        with resources.database.writing() as session:
            is_claimed = workshop.beat(session, claim, message)
    else:
        with resources.database.reading() as session:
            is_claimed = workshop.is_task_claimed(session, claim)
    is_series = claim.kind == "series"
    return is_claimed and not (is_series and has_given_way(resources, claim, experiments))


def has_given_way(resources: Resources, claim: Claim, experiments: Collection[str]) -> bool:
    """Requeue a series if it keeps other work waiting; return whether it was requeued."""
    with resources.database.reading() as session:
        if not workshop.keeps_others_waiting(session, experiments):
            return False
    with resources.database.writing() as session:
        workshop.give_way(session, claim)
    return True


def digest_of(claim: Claim) -> str:
    """Return the SHA-256 of a draft's zipped files."""
    return sha256(claim.source).hexdigest()


def draft_of(resources: Resources, claim: Claim) -> Draft:
    """Return a task in the form sent to a player.

    Raises UsageError if programs are not run here, or if something it needs was deleted in the
    meantime.
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
        COMPILED.find(request["language"], digest_of(claim)),
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
        run = workshop.find_task(session, claim.draft, "run")
        pieces = workshop.pieces_of(session, run.id, MATCH) if run else []
    if run is None or not pieces or run.id != claim.request["run"]:
        raise UsageError("the run that was shown was deleted: run the bot again")
    return tuple(pieces), str(run.report["player"])


def sent_for_task(resources: Resources, claim: Claim) -> Iterator[Program]:
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
