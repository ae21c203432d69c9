"""How bots are addressed: when seated in a match, and when checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Row,
    and_,
    select,
)
from sqlalchemy.orm import Session

from cw_hub.store.sealing import Sealed
from cw_hub.store.tables import (
    Bot,
    BotVersion,
)

PROGRAM: Final = "program:"
"""Prefix of the specs of uploaded programs."""

BUILTIN: Final = "builtin:"
"""Prefix of the specs of built-in strategies."""

VERSION: Final = "version"
"""The bot setting with the number of the version that plays."""

Hosting: TypeAlias = Literal["off", "sandboxed"]
"""How uploaded programs are run: not at all, or in the sandbox.

Only programs that the operator trusts may run without one if it is not available, see
`programs.sandbox_of`.
"""


@dataclass(frozen=True, slots=True)
class ClaimedSeat:
    """A seat of a match as it was when the match was claimed."""

    name: str
    spec: str
    """`builtin:NAME`, `program:` and the SHA-256 of an upload, the address of a web service, or ""
    if there is no bot yet. In a match of a championship its parcel says who plays.
    """
    bot_id: str = ""
    """Public id of the bot; "" for a built-in strategy."""
    settings: Mapping[str, str] = field(default_factory=dict)
    secret: Sealed | None = None
    secret_row: str = ""
    """The bot and version that the secret is bound to."""
    owner: str = ""
    """The username; "" for a built-in strategy, or if the user was deleted."""
    version: int | None = None
    """The number of the version that plays; None if it is not an upload."""

    @property
    def public(self) -> str:
        """The name of the seat in replays, which must not reveal an address."""
        return self.bot_id or (self.spec if self.spec.startswith(BUILTIN) else self.name)


def is_version_played() -> ColumnElement[bool]:
    """Return the condition that joins a bot with the uploaded version that plays, if any."""
    return and_(
        Bot.kind == "program",
        BotVersion.bot_id == Bot.id,
        BotVersion.number == Bot.settings[VERSION].as_integer(),
        BotVersion.state == "ready",
    )


def version_played(bot: Bot | Row[*tuple[Any, ...]]) -> int | None:
    """Return the number of the uploaded version that plays for a bot, or None."""
    number: int | None = bot.settings.get(VERSION) if bot.kind == "program" else None
    return number


def claimed_seat(
    bot: Bot,
    name: str = "",
    owner: str = "",
    version: BotVersion | None = None,
    endpoint: str = "",
) -> ClaimedSeat:
    """Return the seat of a bot as it is now, under the given name or its own.

    `version` is the upload that plays, if any; `endpoint` is the bot's address when its match was
    planned, or "" if unchanged.
    """
    sealed = None if bot.secret is None else Sealed(bot.key_id or "", bot.secret)
    return ClaimedSeat(
        name or bot.name,
        spec_of(bot, version.sha256 if version else "", endpoint),
        bot.bot_id,
        settings_for_program(bot),
        sealed,
        f"{bot.bot_id}.{bot.secret_version}",
        owner,
        version.number if version else None,
    )


def spec_of(bot: Bot, program: str, endpoint: str = "") -> str:
    """Return the spec of a bot, as in `ClaimedSeat.spec`; "" for a retired bot."""
    if bot.status == "RETIRED":
        return ""
    if bot.kind == "builtin":
        return f"{BUILTIN}{bot.endpoint}"
    if bot.kind == "program":
        return f"{PROGRAM}{program}" if program else ""
    return endpoint or bot.endpoint


def seat_of(session: Session, bot: Bot) -> ClaimedSeat:
    """Return the seat that a bot would get now."""
    plays = select(BotVersion).join(Bot, is_version_played()).where(Bot.id == bot.id)
    return claimed_seat(bot, version=session.scalar(plays) if bot.kind == "program" else None)


def program_seat(session: Session, bot: Bot) -> ClaimedSeat | None:
    """Return the seat that a bot would get now if it is an upload that can play, else None."""
    if bot.kind != "program":
        return None
    seat = seat_of(session, bot)
    return seat if seat.spec else None


def settings_for_program(bot: Bot) -> dict[str, str]:
    """Return the settings that a bot's program or service is started with: those that are text."""
    return {name: value for name, value in bot.settings.items() if isinstance(value, str)}
