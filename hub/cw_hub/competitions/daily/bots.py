"""A user's single End of Codes bot: its settings and readiness checks."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import ColumnElement, Row, bindparam, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.games.checks import Readiness
from cw_hub.bots.seats import VERSION
from cw_hub.bots.verbs import NewBot, new_bot
from cw_hub.bots.versions.verbs import passes
from cw_hub.clock import Clock
from cw_hub.competitions.daily.entrants import GAME, Entrant, entrant_of
from cw_hub.store.sealing import Sealed, Sealer
from cw_hub.store.tables import Bot, BotKind

PROBE: Final = "probe_bot"
"""The job that checks whether a bot is ready; takes the id of its row."""

FRESH: Final = timedelta(seconds=5)
"""Minimum age of a probe before the next one."""

LONGEST: Final = 200
"""Maximum number of characters kept of a bot's answer."""

ProbeState: TypeAlias = Literal["no_url", "not_probed", "passed", "failed"]
"""The state of a bot, by its last probe."""


@dataclass(frozen=True, slots=True)
class GraderBot:
    """A bot as its owner sees it."""

    id: int
    bot_id: str
    kind: BotKind
    endpoint: str
    form: str
    """Encoding of requests to it: `urlencoded` or `multipart`."""
    checks: Sequence[Mapping[str, Any]]
    """The steps of the last probe; the last of them includes the observed answer."""
    checked_at: datetime | None
    is_new: bool
    """Whether it has never been probed at any address."""
    secret: Sealed | None
    secret_row: str
    version: int | None = None
    """The version number of the program that plays, or None without a program."""

    @property
    def standing(self) -> ProbeState:
        """The state of the bot."""
        if self.version is not None:
            return "passed"
        if not self.endpoint and self.kind != "program":
            return "no_url"
        if self.kind == "builtin":
            return "passed"
        if not self.checks:
            return "not_probed"
        return "passed" if passes(self.checks) else "failed"

    @property
    def failure(self) -> str:
        """The bot's problem at its last probe or check, or ""."""
        problems = [str(step["problem"]) for step in self.checks if not passes([step])]
        return problems[0] if problems and self.standing == "failed" else ""


def mine(user_id: int) -> ColumnElement[bool]:
    """Return the SQL condition for the bot of a user."""
    is_mine: ColumnElement[bool] = (Bot.user_id == user_id) & (Bot.game == GAME)
    return is_mine & (Bot.status != "RETIRED")


_BOTS = Bot.__table__.c

OWN_BOT: Final = (
    select(
        _BOTS.id,
        _BOTS.bot_id,
        _BOTS.kind,
        _BOTS.endpoint,
        _BOTS.settings,
        _BOTS.checks,
        _BOTS.checked_at,
        _BOTS.healthy_at,
        _BOTS.failures_total,
        _BOTS.secret,
        _BOTS.key_id,
        _BOTS.secret_version,
    )
    .where(_BOTS.user_id == bindparam("user"), _BOTS.game == GAME, _BOTS.status != "RETIRED")
    .order_by(_BOTS.id)
    .limit(1)
)
"""A user's bot. Built once and of columns alone, because many pages run it."""


def find(session: Session, user_id: int) -> GraderBot | None:
    """Return the bot of a user, or None before the first visit of its page."""
    row = session.execute(OWN_BOT, {"user": user_id}).one_or_none()
    return None if row is None else own(row)


def own(row: Bot | Row[*tuple[Any, ...]]) -> GraderBot:
    """Convert a row to the owner's view of a bot."""
    return GraderBot(
        row.id,
        row.bot_id,
        row.kind,
        row.endpoint,
        row.settings.get("form", "urlencoded"),
        row.checks,
        row.checked_at,
        row.healthy_at is None and row.failures_total == 0,
        None if row.secret is None else Sealed(row.key_id or "", row.secret),
        f"{row.bot_id}.{row.secret_version}",
        row.settings.get(VERSION) if row.kind == "program" else None,
    )


def make(session: Session, clock: Clock, sealer: Sealer, user_id: int, username: str) -> GraderBot:
    """Create the bot of a user, with a key and without an address. Concurrent callers get one bot.

    An existing bot without a key (a built-in strategy) gets one.
    """
    known = session.scalars(select(Bot).where(mine(user_id)).order_by(Bot.id).limit(1)).first()
    if known is not None:
        if known.secret is None:
            give_key(known, sealer)
        return own(known)
    row = new_bot(session, clock, user_id, NewBot(GAME, username, ""), "url")
    give_key(row, sealer)
    try:
        with session.begin_nested():
            session.add(row)
            session.flush()
    except IntegrityError:
        bot = find(session, user_id)
        if bot is None:
            raise
        return bot
    return own(row)


def give_key(row: Bot, sealer: Sealer) -> None:
    """Give a bot a new key; discard the checks made with the old one."""
    row.secret_version = (row.secret_version or 0) + 1
    sealed = sealer.seal(secrets.token_hex(16).encode(), f"{row.bot_id}.{row.secret_version}")
    row.secret, row.key_id = sealed.data, sealed.key_id
    row.checks, row.checked_at = [], None


def save(session: Session, user_id: int, endpoint: str, form: str) -> bool:
    """Save address and encoding; return whether the bot has changed. The last call wins.

    A program becomes a web service, and keeps its versions. If the address changes, earlier checks
    are discarded.
    """
    row = session.scalars(select(Bot).where(mine(user_id)).with_for_update()).first()
    if row is None:
        return False
    earlier = own(row)
    changed = (earlier.kind, earlier.endpoint, earlier.form) != ("url", endpoint, form)
    row.kind = "url"
    row.settings = {**row.settings, "form": form}
    if row.endpoint != endpoint:
        row.endpoint, row.checks, row.checked_at = endpoint, [], None
    return changed


def renew_key(session: Session, sealer: Sealer, user_id: int) -> None:
    """Give the bot of a user a new key; not idempotent."""
    row = session.scalars(select(Bot).where(mine(user_id)).with_for_update()).first()
    if row is not None:
        give_key(row, sealer)


def entrant_to_probe(session: Session, bot: int) -> Entrant | None:
    """Return a bot to probe, or None if it has no address, or is suspended or retired."""
    row = session.get(Bot, bot)
    if row is None or row.kind != "url" or not row.endpoint or row.user_id is None:
        return None
    return None if row.status in ("SUSPENDED", "RETIRED") else entrant_of(row, row.user_id, "")


def note_probe(
    session: Session, entrant: Entrant, readiness: Readiness, asked_at: datetime
) -> bool:
    """Save the result of a probe if the bot is unchanged and no later result is known.

    Idempotent.
    """
    is_older = or_(Bot.checked_at.is_(None), Bot.checked_at <= asked_at)
    same = (
        (Bot.id == entrant.bot)
        & (Bot.endpoint == entrant.endpoint)
        & (Bot.secret_version == entrant.version)
    )
    is_open = Bot.status.in_(("PENDING", "ACTIVE", "INACTIVE"))
    fine = readiness.fault is None
    facts: dict[str, Any] = {
        "checks": steps_of(readiness),
        "checked_at": asked_at,
        "protocol_ok": fine,
        "status": "ACTIVE" if fine else "INACTIVE",
        "reason": readiness.failed,
        "failures": 0 if fine else Bot.failures + 1,
        "failures_total": Bot.failures_total + (0 if fine else 1),
    }
    if fine:
        facts["healthy_at"] = asked_at
    change = update(Bot).where(same, is_older, is_open).values(facts).returning(Bot.id)
    return session.execute(change).first() is not None


def steps_of(readiness: Readiness) -> list[dict[str, Any]]:
    """Return the completed steps; the last one includes the observed answer."""
    steps: list[dict[str, Any]] = [{"step": name, "ok": True} for name in readiness.passed]
    if readiness.fault is not None:
        failed = {"step": readiness.failed, "ok": False, "problem": readiness.failed}
        steps.append({**failed, "fix": readiness.fault.note[:LONGEST]})
    steps[-1]["seen"] = {
        "request": readiness.request,
        "code": None if readiness.reply is None else readiness.reply.status,
        "ms": None if readiness.reply is None else round(readiness.reply.seconds * 1000),
        "expected": "" if readiness.fault is None else readiness.fault.expected[:LONGEST],
        "actual": "" if readiness.fault is None else readiness.fault.actual[:LONGEST],
    }
    return steps
