"""A team's actions on its bot: address, secret, versions, and its machine's key."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.accounts import audit
from cw_hub.bots import verbs as bots
from cw_hub.bots.programs import NO_PROGRAMS
from cw_hub.bots.versions import verbs as versions
from cw_hub.bots.versions.verbs import Upload
from cw_hub.clock import Clock
from cw_hub.competitions.tournament.teams.bots import TeamBot, lacks_secret
from cw_hub.store.sealing import Sealer
from cw_hub.store.tables import Bot, Team

NO_URLS: Final = "Bots of this tournament are programs: upload one"
NO_SECRET: Final = "Your bot has no secret."  # noqa: S105
WHERE_SECRET: Final = "Each team is shown its secret when it saves its bot on MY TEAM."  # noqa: S105


def actor_of(bot: TeamBot) -> str:
    """Return a team's name in the audit."""
    return f"team:{bot.slug}"


def note(session: Session, clock: Clock, bot: TeamBot, verb: str, **more: Any) -> None:
    """Add an audit entry about a bot."""
    competition, subject = bot.competition_id, f"bot:{bot.bot_id}"
    audit.note(
        session, clock, actor_of(bot), verb, subject, detail=more, competition_id=competition
    )


def begin_again(session: Session, clock: Clock, row: Bot, bot: TeamBot) -> None:
    """Reset the health of a bot that was replaced; the next sweep checks it."""
    row.failures, row.protocol_ok, row.checks, row.checked_at = 0, False, [], None
    row.check_due_at = clock() if row.kind == "url" else None
    bots.change_status(session, clock, row, "PENDING", "", actor_of(bot))


# Web services


def set_url(session: Session, clock: Clock, sealer: Sealer, bot: TeamBot, url: str) -> str | None:
    """Set the address of a team's bot; return its new secret if it just got one, or None.

    Raises UsageError if bots must be programs.
    """
    if "url" not in bot.kinds:
        raise UsageError(NO_URLS)
    row = versions.locked(session, bot.id)
    row.kind, row.endpoint = "url", url
    begin_again(session, clock, row, bot)
    note(session, clock, bot, "set bot")
    return bots.give_secret(row, sealer) if lacks_secret(row) else None


def rotate(session: Session, clock: Clock, sealer: Sealer, bot: TeamBot) -> str:
    """Give a team's bot a new secret, and return it; it cannot be read again.

    Raises UsageError for a bot without a secret. Concurrent callers: exactly one succeeds.
    """
    row = versions.locked(session, bot.id)
    if not bot.has_secret:
        raise UsageError(NO_SECRET)
    if row.secret_version != bot.secret_version:
        raise UsageError(bots.ROTATED)
    begin_again(session, clock, row, bot)
    note(session, clock, bot, "rotate")
    return bots.give_secret(row, sealer)


# Programs


def add_version(session: Session, clock: Clock, bot: TeamBot, upload: Upload) -> int:
    """Add a version of a team's bot, which plays from the next match; return its number.

    Raises UsageError if programs are not allowed, and CapacityError as `versions.add` does.
    """
    if "program" not in bot.kinds:
        raise UsageError(NO_PROGRAMS)
    row = versions.locked(session, bot.id)
    number = versions.add(session, clock, row, upload, "ready")
    play_version(session, clock, row, bot, number)
    return number


def use_version(session: Session, clock: Clock, bot: TeamBot, number: int) -> None:
    """Switch to an earlier version; raise UsageError if it cannot play."""
    if "program" not in bot.kinds:
        raise UsageError(NO_PROGRAMS)
    row = versions.locked(session, bot.id)
    versions.ready(session, row.id, number)
    play_version(session, clock, row, bot, number)


def play_version(session: Session, clock: Clock, row: Bot, bot: TeamBot, number: int) -> None:
    """Activate a version."""
    versions.activate(session, clock, row, number)
    begin_again(session, clock, row, bot)
    note(session, clock, bot, "version", version=number)


# Machines


def set_ssh_key(session: Session, clock: Clock, bot: TeamBot, key: str) -> None:
    """Set a team's public key; "" for none."""
    row = session.scalars(select(Team).where(Team.id == bot.team_id).with_for_update()).one()
    row.ssh_key = key or None
    competition, subject = bot.competition_id, f"team:{bot.team_id}"
    audit.note(session, clock, actor_of(bot), "ssh key", subject, competition_id=competition)
