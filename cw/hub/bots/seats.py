"""How bots are addressed: in the matches in which they are seated, and when they are checked."""

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

from cw.hub.store.sealing import Sealed
from cw.hub.store.tables import (
    Bot,
    BotVersion,
)

PROGRAM: Final = "program:"
"""Prefix of the specs of uploaded programs."""

BUILTIN: Final = "builtin:"
"""Prefix of the specs of built-in strategies."""

VERSION: Final = "version"
"""The setting of a bot with the number of the version of its program that plays."""

Hosting: TypeAlias = Literal["off", "sandboxed"]
"""How uploaded programs are run: not at all, or behind walls.

Without walls, if need be, they are run for those alone whom the operator trusts, see
`programs.sandbox_of`.
"""


@dataclass(frozen=True, slots=True)
class ClaimedSeat:
    """A seat of a match as it was when the match was claimed."""

    name: str
    spec: str
    """`builtin:NAME`, `program:` and the SHA-256 of an upload, or the address of a web service; ""
    if there is no bot yet. Of a match of a championship its parcel says who plays."""
    bot_id: str = ""
    """Public id of the bot; "" for a built-in strategy."""
    settings: Mapping[str, str] = field(default_factory=dict)
    secret: Sealed | None = None
    secret_row: str = ""
    """What the secret is bound to."""
    owner: str = ""
    """The username; "" for a built-in strategy, and where it was deleted."""
    version: int | None = None
    """The number of the version that plays; None for what is not an upload."""

    @property
    def public(self) -> str:
        """How replays name who sits there: nobody learns an address from them."""
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
    """Return the number of the uploaded version that plays for a bot, None if none does."""
    number: int | None = bot.settings.get(VERSION) if bot.kind == "program" else None
    return number


def claimed_seat(
    bot: Bot,
    name: str = "",
    owner: str = "",
    version: BotVersion | None = None,
    endpoint: str = "",
) -> ClaimedSeat:
    """Return the seat of a bot as it is now, under a name or its own.

    `version` is the upload that plays, if any; `endpoint` the address that the bot had when its
    match was planned, "" if that is still its own.
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
    """Return what plays for a bot, as `ClaimedSeat.spec` has it: nothing for a retired one."""
    if bot.status == "RETIRED":
        return ""
    if bot.kind == "builtin":
        return f"{BUILTIN}{bot.endpoint}"
    if bot.kind == "program":
        return f"{PROGRAM}{program}" if program else ""
    return endpoint or bot.endpoint


def seat_of(session: Session, bot: Bot) -> ClaimedSeat:
    """Return a bot as it would be seated now."""
    plays = select(BotVersion).join(Bot, is_version_played()).where(Bot.id == bot.id)
    return claimed_seat(bot, version=session.scalar(plays) if bot.kind == "program" else None)


def program_seat(session: Session, bot: Bot) -> ClaimedSeat | None:
    """Return a bot as it would be seated if it is an upload that can play, else None."""
    if bot.kind != "program":
        return None
    seat = seat_of(session, bot)
    return seat if seat.spec else None


def settings_for_program(bot: Bot) -> dict[str, str]:
    """Return the settings of a bot that its program or service is started with: the texts."""
    return {name: value for name, value in bot.settings.items() if isinstance(value, str)}
