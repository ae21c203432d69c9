"""Records check results, and reports the condition of bots from their last check and matches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from sqlalchemy import and_, case, select, union_all, update

from cw_hub.accounts import mail
from cw_hub.bots import versions
from cw_hub.bots.addresses import (
    ClaimedSeat,
    Hosting,
    claimed_seat,
    program_seat,
    settings_for_program,
)
from cw_hub.bots.checks import owner_of
from cw_hub.bots.house import house_id
from cw_hub.bots.service import ASKED, LONGEST_REASON, change_status
from cw_hub.bots.versions import failed_step
from cw_hub.players.messages import UNREACHABLE
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, BotStatus, Match, MatchParticipant
from cw_hub.store.sealing import Sealed

SWEEP: Final = "sweep_bots"
"""The job that checks all bots that are due."""

MOST_FAILURES: Final = 3
"""Failures in a row after which a bot becomes INACTIVE."""

OF_TEAMS: Final = timedelta(hours=1)
"""Minimum time between two checks of a team's bot, which only inform the team."""

AT_ONCE: Final = 1000
"""Maximum number of bots in one sweep."""

AGAIN: Final = timedelta(minutes=1)
"""Time until an ACTIVE bot is checked again after a failure."""

MAIL_PAUSE: Final = timedelta(days=1)
"""Minimum time between two emails about the same bot."""

PROTOCOL_STEPS: Final = ("turn", "signature", "moves", "refusal")
"""Check steps whose failure does not affect a bot's health."""


class BotHosting(NamedTuple):
    """How a bot's program is run."""

    hosting: Hosting
    tournament: str = ""
    """The slug of its team's tournament, if any."""
    options: Mapping[str, Any] = {}
    """The options with which its competition plays the game."""


SANDBOXED: Final = BotHosting("sandboxed")

HostingOf: TypeAlias = Callable[[Session, Bot], BotHosting]
"""Returns how a bot's program is run."""


def always_sandboxed(_session: Session, _bot: Bot) -> BotHosting:
    """Return the hosting of bots without a team: always in the sandbox."""
    return SANDBOXED


@dataclass(frozen=True, slots=True)
class CheckTarget:
    """A bot as it was when a check started."""

    id: int
    bot_id: str
    game: str
    name: str
    endpoint: str
    settings: Mapping[str, str]
    secret: Sealed
    """Empty for a team's bot without a secret, as its game requires none."""
    secret_row: str
    secret_version: int
    status: BotStatus
    protocol_ok: bool
    seat: ClaimedSeat | None = None
    """The uploaded program; None for a web service."""
    hosting: BotHosting = SANDBOXED
    owner: str = ""
    """The owner's key in rate limits."""
    is_house: bool = False
    """Whether it is one of the site's own bots."""
    is_waiting: bool = False
    """Whether the program is a version waiting for its check."""

    @property
    def is_known(self) -> bool:
        """Whether a health check is sufficient because the bot is known to speak the protocol."""
        return self.status != "PENDING" and self.protocol_ok


def check_target(
    session: Session, bot: int, hosting_of: HostingOf = always_sandboxed
) -> CheckTarget | None:
    """Return the target of a check, or None if the bot is not checked."""
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
    """Return whether a bot is a web service that can be called; users' services need a secret."""
    has_secret = bot.secret is not None or bot.team_id is not None
    return bot.kind == "url" and bool(bot.endpoint) and has_secret


def note_check(session: Session, target: CheckTarget, steps: Sequence[Mapping[str, Any]]) -> bool:
    """Record a full check: ACTIVE if all steps passed, otherwise INACTIVE with a reason.

    For an ACTIVE bot only its health counts; the result of a version that is not active is ignored.
    Returns False, leaving the bot unchanged, if its URL, secret or version has changed in the
    meantime, or if the bot no longer exists.
    """
    failed = versions.failed_step(steps)
    report = {"checks": list(steps), "checked_at": session.now()}
    is_ill = is_silent(steps)
    bot = same_bot(session, target)
    if bot is None:
        return False
    version = None if target.seat is None else target.seat.version
    if version is not None and not versions.note_check(session, bot, version, steps):
        return target.is_waiting
    for name, value in report.items():
        setattr(bot, name, value)
    if bot.status == "ACTIVE":
        count_health(session, bot, failed["problem"] if failed and is_ill else None)
        return True
    bot.protocol_ok = failed is None
    if failed is None:
        bot.healthy_at, bot.failures = session.now(), 0
        change_status(session, bot, "ACTIVE", "")
    else:
        bot.failures, bot.failures_total = bot.failures + 1, bot.failures_total + 1
        change_status(session, bot, "INACTIVE", failed["problem"])
    return True


def note_health(session: Session, target: CheckTarget, steps: Sequence[Mapping[str, Any]]) -> bool:
    """Record a health check: three failures in a row make a bot INACTIVE, one success ACTIVE.

    A failure replaces the result of the last full check, and the next success replaces the failure,
    so that pages never report success for a bot that does not respond. Returns False, changing
    nothing, if the bot's URL or secret has changed in the meantime, or if the bot no longer exists.
    """
    bot = same_bot(session, target)
    if bot is None:
        return False
    failed = versions.failed_step(steps)
    if failed is not None or is_silent(bot.checks):
        bot.checks, bot.checked_at = list(steps), session.now()
    count_health(session, bot, failed["problem"] if failed else None)
    return True


def is_silent(steps: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a check failed because the bot did not respond at all."""
    failed = versions.failed_step(steps)
    return failed is not None and failed["step"] not in PROTOCOL_STEPS


def count_health(session: Session, bot: Bot, problem: str | None) -> None:
    """Count a success or a failure, and update the status."""
    if problem is None:
        bot.healthy_at, bot.failures = session.now(), 0
        if bot.status == "INACTIVE" and bot.protocol_ok:
            change_status(session, bot, "ACTIVE", "")
        return
    bot.failures, bot.failures_total = bot.failures + 1, bot.failures_total + 1
    if bot.status == "ACTIVE" and bot.failures >= MOST_FAILURES:
        change_status(session, bot, "INACTIVE", problem)
        tell_owner(session, bot)
    elif bot.status == "INACTIVE":
        bot.reason = problem[:LONGEST_REASON]
    elif bot.check_due_at is not None:
        bot.check_due_at = min(bot.check_due_at, session.now() + AGAIN)


def tell_owner(session: Session, bot: Bot) -> None:
    """Email the owner of a web service that it is inactive, at most once a day."""
    # Programs are checked by workers, which do not handle emails.
    if bot.kind == "url" and bot.user_id is not None and bot.user_id != house_id(session):
        since = session.now() - MAIL_PAUSE
        if not mail.has_mail(session, "inactive", bot.user_id, bot.id, since):
            mail.put(session, "inactive", bot.user_id, bot.id)


def note_match(session: Session, bots: Collection[int]) -> None:
    """Count a failure of bots that a match could not reach, and schedule an immediate check.

    The check decides their status.
    """
    now = session.now()
    for bot in sorted(bots):
        asked = (Bot.id == bot, Bot.status == "ACTIVE", Bot.check_due_at.is_not(None))
        failed = {"failures": Bot.failures + 1, "check_due_at": now}
        session.execute(update(Bot).where(*asked).values(failed))


def same_bot(session: Session, target: CheckTarget) -> Bot | None:
    """Return a bot's row, locked, if it is unchanged since the check started, else None."""
    same = and_(
        Bot.id == target.id,
        Bot.endpoint == target.endpoint,
        Bot.secret_version == target.secret_version,
        Bot.status.in_(ASKED),
    )
    return session.scalars(select(Bot).where(same).with_for_update(key_share=True)).one_or_none()


def take_due(session: Session, every: timedelta) -> list[CheckTarget]:
    """Return the bots due for a health check, and schedule their next one.

    With concurrent callers, each bot is returned to only one of them.
    """
    now = session.now()
    due = and_(Bot.check_due_at <= now, Bot.status.in_(ASKED), Bot.kind == "url")
    first = select(Bot.id).where(due).order_by(Bot.check_due_at, Bot.id).limit(AT_ONCE)
    next_check = case((Bot.team_id.is_not(None), now + max(every, OF_TEAMS)), else_=now + every)
    change = update(Bot).where(Bot.id.in_(first), due).values(check_due_at=next_check)
    ids = session.scalars(change.returning(Bot.id)).all()
    targets = (check_target(session, bot) for bot in sorted(ids))
    return [target for target in targets if target is not None]


def any_due(session: Session) -> bool:
    """Return whether any bot is due for a health check."""
    due = and_(Bot.check_due_at <= session.now(), Bot.status.in_(ASKED), Bot.kind == "url")
    return session.scalar(select(Bot.id).where(due).limit(1)) is not None


LAST: Final = 5
"""Number of a bot's latest matches that count towards its condition."""

Word: TypeAlias = Literal["active", "failing", "pending", "inactive", "suspended", "retired"]


@dataclass(frozen=True, slots=True)
class Played:
    """A match that a bot has played, with the bot's faults in it."""

    match_id: str
    at: datetime
    faults: Sequence[Mapping[str, Any]] = ()

    @property
    def unreachable(self) -> bool:
        """Whether the bot could not be reached."""
        return any(fault.get("kind") in UNREACHABLE for fault in self.faults)

    @property
    def first(self) -> str:
        """The message of the first fault, or ""."""
        fault = next(iter(self.faults), {})
        return str(fault.get("detail") or fault.get("kind", ""))


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of a bot."""

    status: BotStatus
    checked_at: datetime | None = None
    failed: Mapping[str, Any] | None = None
    """The first failed step of the last check."""
    matches: Sequence[Played] = ()
    """The last finished matches, latest first; at most five."""

    @property
    def last(self) -> Played | None:
        """The last match."""
        return next(iter(self.matches), None)

    @property
    def faulty(self) -> int:
        """The number of recent matches with a fault."""
        return sum(bool(match.faults) for match in self.matches)

    @property
    def is_unreachable(self) -> bool:
        """Whether it was unreachable in its last match, and has passed no check since."""
        last = self.last
        if last is None or not last.unreachable:
            return False
        return self.failed is not None or self.checked_at is None or self.checked_at < last.at

    @property
    def is_silent(self) -> bool:
        """Whether the bot does not respond, which eventually makes an active bot inactive."""
        step = self.failed["step"] if self.failed is not None else None
        return self.is_unreachable or (step is not None and step not in PROTOCOL_STEPS)

    @property
    def is_well(self) -> bool:
        """Whether neither the last check nor the last match found a fault."""
        return self.failed is None and not (self.last and self.last.faults)

    @property
    def word(self) -> Word:
        """The status in one word; `failing` for an active bot with a problem."""
        if self.status == "ACTIVE" and (self.failed is not None or self.is_unreachable):
            return "failing"
        return WORDS[self.status]


WORDS: Final[Mapping[BotStatus, Word]] = {
    "ACTIVE": "active",
    "PENDING": "pending",
    "INACTIVE": "inactive",
    "SUSPENDED": "suspended",
    "RETIRED": "retired",
}


def condition_of(session: Session, bot: int) -> Condition:
    """Return the condition of a bot."""
    return conditions(session, [bot])[bot]


def conditions(session: Session, bots: Sequence[int]) -> dict[int, Condition]:
    """Return the conditions of bots by row id; intended for one page, not for a whole site."""
    columns = (Bot.id, Bot.status, Bot.checked_at, Bot.healthy_at, Bot.checks)
    rows = session.execute(select(*columns).where(Bot.id.in_(bots)))
    played = last_matches(session, bots)
    return {
        row.id: Condition(
            row.status,
            max(filter(None, (row.checked_at, row.healthy_at)), default=None),
            failed_step(row.checks),
            played.get(row.id, ()),
        )
        for row in rows
    }


def last_matches(session: Session, bots: Sequence[int]) -> dict[int, list[Played]]:
    """Return the last finished matches of bots by row id, latest first."""
    if not bots:
        return {}
    # One subquery per bot, so that each reads only the end of an index.
    parts = [select(of_bot(bot).subquery()) for bot in bots]
    rows: list[Any] = list(session.execute(union_all(*parts)))
    rows.sort(key=lambda row: (row.bot_id, -row.row))
    return {
        bot: [Played(row.match_id, row.ended_at, row.faults) for row in its]
        for bot, its in groupby(rows, lambda row: row.bot_id)
    }


def of_bot(bot: int) -> Any:
    """Return the query for the last matches of a bot."""
    seat = MatchParticipant
    return (
        select(
            seat.bot_id,
            Match.id.label("row"),
            Match.match_id.label("match_id"),
            Match.finished_at.label("ended_at"),
            seat.faults,
        )
        .join(Match, Match.id == seat.match_id)
        .where(seat.bot_id == bot, Match.state == "done")
        .order_by(seat.match_id.desc())
        .limit(LAST)
    )
