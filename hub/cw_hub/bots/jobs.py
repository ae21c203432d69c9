"""Jobs that check bots: the steps of their games' protocols, and periodic health checks."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, TypeAlias

from cw.arena.bots import SECRET_SETTINGS, BotSpec
from cw.arena.transports.base_address import check_base
from cw.errors import UsageError
from cw_hub.bots import checks, health, programs, shares
from cw_hub.bots.addresses import INSECURE, ClaimedSeat, address_problem, isolation_of
from cw_hub.bots.health import CheckTarget, HostingOf, always_sandboxed
from cw_hub.bots.programs import hosting_here, sandbox_of
from cw_hub.bots.service import CHECK
from cw_hub.operation import logs
from cw_hub.operation.queue import PROGRAMS
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import Answered, Answers, Ask, Built, Check, Question
from cw_hub.players.players import Defect, Distrusted
from cw_hub.store.database import Session

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
        logs.note(bot_id=target.bot_id)
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
