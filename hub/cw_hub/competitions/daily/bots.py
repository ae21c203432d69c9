"""Users' End of Codes bots in daily games: settings, keys, readiness probes and admission."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import ColumnElement, Row, bindparam, or_, select, update
from sqlalchemy.exc import IntegrityError

from cw.arena.bots import SECRET_SETTINGS, BotSpec
from cw.games.wire import Readiness
from cw_hub.bots import checks
from cw_hub.bots.addresses import VERSION, isolation_of
from cw_hub.bots.service import NewBot, new_bot
from cw_hub.bots.versions import passes
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.daily.service import GAME, Admission, Entrant, entrant_of, report
from cw_hub.matches.results import Claim
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import Readinesses, Ready
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, BotKind
from cw_hub.store.sealing import Sealed, Sealer

PROBE: Final = "probe_bot"
"""The job that checks whether a bot is ready; takes the id of its row."""

FRESH: Final = timedelta(seconds=5)
"""Minimum time between two probes of a bot."""

LONGEST: Final = 200
"""Maximum length of the texts stored about a bot's response, in characters."""

ProbeState: TypeAlias = Literal["no_url", "not_probed", "passed", "failed"]
"""A bot's state according to its last probe."""


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
    """The steps of the last probe; the last of them includes the observed response."""
    checked_at: datetime | None
    is_new: bool
    """Whether it has never been probed at any URL."""
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
    """Return the SQL condition for a user's bot, unless it is retired."""
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
"""Selects a user's bot. Built once, and of columns only, because many pages run it."""


def find(session: Session, user_id: int) -> GraderBot | None:
    """Return a user's bot, or None before the first visit to its page."""
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


def make(session: Session, sealer: Sealer, user_id: int, username: str) -> GraderBot:
    """Create a user's bot, with a key but without a URL; concurrent callers get the same bot.

    An existing bot without a key (a built-in strategy) gets one.
    """
    known = session.scalars(select(Bot).where(mine(user_id)).order_by(Bot.id).limit(1)).first()
    if known is not None:
        if known.secret is None:
            give_key(known, sealer)
        return own(known)
    row = new_bot(session, user_id, NewBot(GAME, username, ""), "url")
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
    """Save URL and encoding; return whether the bot has changed. The last call wins.

    A program becomes a web service, and keeps its versions. If the URL changes, earlier checks are
    discarded.
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
    """Give a user's bot a new key. Not idempotent."""
    row = session.scalars(select(Bot).where(mine(user_id)).with_for_update()).first()
    if row is not None:
        give_key(row, sealer)


def entrant_to_probe(session: Session, bot: int) -> Entrant | None:
    """Return a bot to probe, or None if it has no URL, or is suspended or retired."""
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
    """Return the steps of a probe; the last one includes the observed response."""
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


NOT_ASKED: Final = "The host of your bot was asked too often in the last hour"


def probe_bot(resources: Resources, bot: int, owner: str = "", visitor: str = "") -> None:
    """Probe one bot: the handler of the job `probe_bot`.

    Not idempotent: a repeated job probes again. A result is dropped if the bot has changed in the
    meantime. Afterwards `owner` and `visitor` may request their next probe.
    """
    try:
        probe_now(resources, bot)
    finally:
        checks.release(resources.rate_counts, owner, visitor)


def probe_now(resources: Resources, bot: int) -> None:
    """Probe one bot, and save the result."""
    asked_at = resources.clock()
    with resources.database.reading() as session:
        entrant = entrant_to_probe(session, bot)
    if entrant is not None:
        (answer,) = answers(resources, [entrant])
        write(resources, [(entrant, answer)], asked_at)


def write(
    resources: Resources, answered: Sequence[tuple[Entrant, Readiness]], asked_at: datetime
) -> None:
    """Save probe results, except those of bots that have changed since the probe."""
    with resources.database.writing() as session:
        for entrant, answer in answered:
            note_probe(session, entrant, answer, asked_at)


def answers(resources: Resources, entrants_of_game: Sequence[Entrant]) -> Sequence[Readiness]:
    """Probe bots concurrently, and return the results."""
    if not entrants_of_game:
        return []
    names = [str(number) for number in range(len(entrants_of_game))]
    bots = [
        BotSpec(
            name, "http", entrant.endpoint, {**entrant.seat.settings, "username": entrant.seat.name}
        )
        for name, entrant in zip(names, entrants_of_game, strict=True)
    ]
    secrets = {
        name: dict.fromkeys(
            SECRET_SETTINGS,
            resources.sealer.open(entrant.seat.secret, entrant.seat.secret_row).decode(),
        )
        for name, entrant in zip(names, entrants_of_game, strict=True)
        if entrant.seat.secret is not None
    }
    task = Ready(GAME, tuple(bots), secrets, isolation_of(resources.settings))
    with resources.players.play(task) as play:
        return next(each.bots for each in play if isinstance(each, Readinesses))


async def admit(resources: Resources, claim: Claim) -> Claim | None:
    """Probe all bots eligible for a daily game, and write the participants; return the new claim.

    Returns None if the game no longer belongs to this attempt.
    """
    asked_at = resources.clock()
    with resources.database.reading() as session:
        candidates = daily_service.entrants(session, claim.game)
    services = [entrant for entrant in candidates if claim.game == GAME and entrant.is_asked]
    unasked = await asyncio.to_thread(asked_too_often, resources, services)
    others = [entrant for entrant in services if entrant not in unasked]
    readiness = await asyncio.to_thread(answers, resources, others)
    answered = list(zip(others, readiness, strict=True))
    await asyncio.to_thread(write, resources, answered, asked_at)
    failed = [(entrant, answer) for entrant, answer in answered if answer.fault is not None]
    refused = [(entrant, refusal(entrant, answer)) for entrant, answer in failed]
    refused += [(entrant, not_asked(entrant.user_id)) for entrant in unasked]
    out = {entrant.bot for entrant, _ in refused}
    admission = Admission([entrant for entrant in candidates if entrant.bot not in out], refused)
    admission = daily_service.seated(claim.game, claim.seed, admission)
    with resources.database.writing() as session:
        admitted = daily_service.admit(session, claim, admission)
    return None if admitted is None else await asyncio.to_thread(daily_service.playable, admitted)


def asked_too_often(resources: Resources, services: Sequence[Entrant]) -> list[Entrant]:
    """Count the requests to inactive bots; return those whose hosts exceed the limit."""
    with resources.database.reading() as session:
        return [
            entrant
            for entrant in services
            if not entrant.is_active
            and not checks.may_claim(
                session,
                resources.rate_counts,
                checks.owner_named(entrant.user_id),
                entrant.endpoint,
                checks.ONE,
            )
        ]


def not_asked(user_id: int) -> dict[str, object]:
    """Return the report of a bot that was not probed because of its host's request limit."""
    return report(user_id, 0, None, "initiate", "startup", "initiate_not_asked", text=NOT_ASKED)


def refusal(entrant: Entrant, answer: Readiness) -> dict[str, object]:
    """Return the report of a bot that is refused because its probe has failed."""
    fault = answer.fault
    error = "" if fault is None else fault.detail
    more = {} if fault is None else {"expected": fault.expected, "actual": fault.actual}
    return report(
        entrant.user_id, 0, None, "initiate", "startup", error, text=answer.failed, **more
    )
