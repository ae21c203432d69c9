"""Health checks of bots: what a check asks, and what follows from its result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import and_, case, select, update
from sqlalchemy.orm import Session

from cw.hub.accounts.mails import outbox
from cw.hub.bots.checks.asking import owner_of
from cw.hub.bots.house import house_id
from cw.hub.bots.seats import (
    ClaimedSeat,
    Hosting,
    claimed_seat,
    program_seat,
    settings_for_program,
)
from cw.hub.bots.verbs import ASKED, LONGEST_REASON, change_status
from cw.hub.bots.versions import verbs as versions
from cw.hub.clock import Clock
from cw.hub.store.sealing import Sealed
from cw.hub.store.tables import Bot, BotStatus

SWEEP: Final = "sweep_bots"
"""The job that asks all bots whose health is to be asked."""

MOST_FAILURES: Final = 3
"""In a row; then a bot is INACTIVE."""

OF_TEAMS: Final = timedelta(hours=1)
"""Between two checks of a team's bot, at least: they inform the team, and nothing else."""

AT_ONCE: Final = 1000
"""Bots of one sweep."""

AGAIN: Final = timedelta(minutes=1)
"""After a failure, until an ACTIVE bot is asked again."""

MAIL_PAUSE: Final = timedelta(days=1)
"""Between two mails about the same bot, at least."""

PROTOCOL_STEPS: Final = ("turn", "signature", "moves", "refusal")
"""Steps that say nothing of a bot's health."""


class BotHosting(NamedTuple):
    """How the program of a bot is run."""

    hosting: Hosting
    tournament: str = ""
    """The slug of that of its team, if any."""
    options: Mapping[str, Any] = {}
    """Those with which its competition plays the game."""


SANDBOXED: Final = BotHosting("sandboxed")

HostingOf: TypeAlias = Callable[[Session, Bot], BotHosting]
"""Returns how the program of a bot is run."""


def always_sandboxed(_session: Session, _bot: Bot) -> BotHosting:
    """Return how the programs of bots without a team are run."""
    return SANDBOXED


@dataclass(frozen=True, slots=True)
class CheckTarget:
    """A bot as it was when a check began."""

    id: int
    bot_id: str
    game: str
    name: str
    endpoint: str
    settings: Mapping[str, str]
    secret: Sealed
    """Empty for the bot of a team that has none, as its game asks for none."""
    secret_row: str
    secret_version: int
    status: BotStatus
    protocol_ok: bool
    seat: ClaimedSeat | None = None
    """The program that was uploaded; None for a web service."""
    hosting: BotHosting = SANDBOXED
    owner: str = ""
    """As counts name it."""
    is_house: bool = False
    """Whether it is one of the site's own."""
    is_waiting: bool = False
    """Whether the program is a version that has waited for its check."""

    @property
    def is_known(self) -> bool:
        """Whether its health says enough: it speaks the protocol."""
        return self.status != "PENDING" and self.protocol_ok


def check_target(
    session: Session, bot: int, hosting_of: HostingOf = always_sandboxed
) -> CheckTarget | None:
    """Return what a check asks, None for a bot that is asked nothing."""
    row = session.get(Bot, bot)
    if row is None or row.kind == "builtin" or row.status in ("SUSPENDED", "RETIRED"):
        return None
    waiting = versions.unchecked(session, row.id) if row.kind == "program" else None
    seat = claimed_seat(row, version=waiting) if waiting else program_seat(session, row)
    if seat is None and not is_service(row):
        return None
    return CheckTarget(
        row.id,
        row.bot_id,
        row.game,
        row.name,
        row.endpoint,
        settings_for_program(row),
        Sealed(row.key_id or "", row.secret or b""),
        f"{row.bot_id}.{row.secret_version}",
        row.secret_version,
        row.status,
        row.protocol_ok,
        seat,
        hosting_of(session, row),
        owner_of(row),
        row.user_id is not None and row.user_id == house_id(session),
        waiting is not None,
    )


def is_service(bot: Bot) -> bool:
    """Return whether a bot is a web service that can be asked: people's sign what they answer."""
    has_secret = bot.secret is not None or bot.team_id is not None
    return bot.kind == "url" and bool(bot.endpoint) and has_secret


def note_check(
    session: Session, clock: Clock, target: CheckTarget, steps: Sequence[Mapping[str, Any]]
) -> bool:
    """Write what a full check has found; ACTIVE if all steps were fine, else INACTIVE, and why.

    For a bot that is ACTIVE only its health counts, and nothing that a version comes to which
    plays not. Late, when the bot has another address, secret or version, or is gone: False, and
    nothing of it changes.
    """
    failed = versions.failed_step(steps)
    report = {"checks": list(steps), "checked_at": clock()}
    is_ill = is_silent(steps)
    bot = same_bot(session, target)
    if bot is None:
        return False
    version = None if target.seat is None else target.seat.version
    if version is not None and not versions.note_check(session, clock, bot, version, steps):
        return target.is_waiting
    for name, value in report.items():
        setattr(bot, name, value)
    if bot.status == "ACTIVE":
        count_health(session, clock, bot, failed["problem"] if failed and is_ill else None)
        return True
    bot.protocol_ok = failed is None
    if failed is None:
        bot.healthy_at, bot.failures = clock(), 0
        change_status(session, clock, bot, "ACTIVE", "")
    else:
        bot.failures, bot.failures_total = bot.failures + 1, bot.failures_total + 1
        change_status(session, clock, bot, "INACTIVE", failed["problem"])
    return True


def note_health(
    session: Session, clock: Clock, target: CheckTarget, steps: Sequence[Mapping[str, Any]]
) -> bool:
    """Write whether a bot is well: three failures in a row make it INACTIVE, one success ACTIVE.

    A failure takes the place of what the last full check has found, and the next success that of
    the failure: nobody reads that all is fine beside a bot that does not answer. Late, when the bot
    has another address or secret, or is gone: False, and nothing changes.
    """
    bot = same_bot(session, target)
    if bot is None:
        return False
    failed = versions.failed_step(steps)
    if failed is not None or is_silent(bot.checks):
        bot.checks, bot.checked_at = list(steps), clock()
    count_health(session, clock, bot, failed["problem"] if failed else None)
    return True


def is_silent(steps: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a check has failed as the bot did not answer, whatever it would have said."""
    failed = versions.failed_step(steps)
    return failed is not None and failed["step"] not in PROTOCOL_STEPS


def count_health(session: Session, clock: Clock, bot: Bot, problem: str | None) -> None:
    """Count a success or a failure, and let the status follow."""
    if problem is None:
        bot.healthy_at, bot.failures = clock(), 0
        if bot.status == "INACTIVE" and bot.protocol_ok:
            change_status(session, clock, bot, "ACTIVE", "")
        return
    bot.failures, bot.failures_total = bot.failures + 1, bot.failures_total + 1
    if bot.status == "ACTIVE" and bot.failures >= MOST_FAILURES:
        change_status(session, clock, bot, "INACTIVE", problem)
        tell_owner(session, clock, bot)
    elif bot.status == "INACTIVE":
        bot.reason = problem[:LONGEST_REASON]
    elif bot.check_due_at is not None:
        bot.check_due_at = min(bot.check_due_at, clock() + AGAIN)


def tell_owner(session: Session, clock: Clock, bot: Bot) -> None:
    """Let the owner of a web service be sent a mail that it is inactive, at most one a day."""
    # A program is checked by workers, which know nothing of mails.
    if bot.kind == "url" and bot.user_id is not None and bot.user_id != house_id(session):
        since = clock() - MAIL_PAUSE
        if not outbox.has_mail(session, "inactive", bot.user_id, bot.id, since):
            outbox.put(session, clock, "inactive", bot.user_id, bot.id)


def note_match(session: Session, clock: Clock, bots: Collection[int]) -> None:
    """Let bots that a match could not reach be checked at once; it counts as a failure of theirs.

    The check says what becomes of them.
    """
    now = clock()
    for bot in sorted(bots):
        asked = (Bot.id == bot, Bot.status == "ACTIVE", Bot.check_due_at.is_not(None))
        failed = {"failures": Bot.failures + 1, "check_due_at": now}
        session.execute(update(Bot).where(*asked).values(failed))


def same_bot(session: Session, target: CheckTarget) -> Bot | None:
    """Return the row of a bot, locked, if it is still what was asked."""
    same = and_(
        Bot.id == target.id,
        Bot.endpoint == target.endpoint,
        Bot.secret_version == target.secret_version,
        Bot.status.in_(ASKED),
    )
    return session.scalars(select(Bot).where(same).with_for_update(key_share=True)).one_or_none()


def take_due(session: Session, clock: Clock, every: timedelta) -> list[CheckTarget]:
    """Return the bots whose health is to be asked, and put them off to the next time.

    Twice, or by two at once: each bot is given to one of them.
    """
    now = clock()
    due = and_(Bot.check_due_at <= now, Bot.status.in_(ASKED), Bot.kind == "url")
    first = select(Bot.id).where(due).order_by(Bot.check_due_at, Bot.id).limit(AT_ONCE)
    next_check = case((Bot.team_id.is_not(None), now + max(every, OF_TEAMS)), else_=now + every)
    change = update(Bot).where(Bot.id.in_(first), due).values(check_due_at=next_check)
    ids = session.scalars(change.returning(Bot.id)).all()
    targets = (check_target(session, bot) for bot in sorted(ids))
    return [target for target in targets if target is not None]


def any_due(session: Session, clock: Clock) -> bool:
    """Return whether the health of a bot is to be asked."""
    due = and_(Bot.check_due_at <= clock(), Bot.status.in_(ASKED), Bot.kind == "url")
    return session.scalar(select(Bot.id).where(due).limit(1)) is not None
