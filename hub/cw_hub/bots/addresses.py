"""Bot URLs: which ones are allowed in forms, checks and matches; and bots' seats in matches.

Forms validate a URL by its text alone. Its host name is resolved only when the bot is called, by
the caller, because a name server may be slow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Row,
    and_,
    select,
)

from cw.arena.transports.base_address import read_base
from cw.errors import UsageError
from cw.matches.run import reachable_by
from cw.matches.spec import Isolation, SandboxPolicy
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, BotVersion
from cw_hub.store.sealing import Sealed

INSECURE: Final = "The endpoint must use https"
INTERNAL: Final = "The endpoint must not be an internal address"
LOOPBACK: Final = "127.0.0.1"


def isolation_of(
    settings: HubSettings, sandbox: SandboxPolicy = "require", house: Iterable[str] = ()
) -> Isolation:
    """Return the isolation of bots: the addresses they may have, and the sandbox policy.

    `house` contains the names of the site's own bots.
    """
    first, *networks = settings.bots_may_be
    return Isolation(
        sandbox,
        "any" if first == "any" else "public",
        tuple(networks),
        https=settings.bots_need_https,
        house=tuple(house) if settings.house_network else (),
        house_networks=tuple(settings.house_network),
    )


def address_problem(url: str, settings: HubSettings, *, is_house: bool = False) -> str:
    """Return why a bot may not use the URL of a web service, or "" if it may.

    No host name is resolved.
    """
    house = (url,) if is_house else ()
    reachable = reachable_by(isolation_of(settings, house=house), url)
    if not reachable.takes(url):
        return INSECURE
    address = literal(host_of(url))
    return "" if address is None or reachable.includes(address) else INTERNAL


def check_address(url: str, settings: HubSettings) -> None:
    """Raise UsageError, with a message for the user, if a bot may not use a URL."""
    problem = address_problem(url, settings)
    if problem:
        raise UsageError(problem)


def literal(host: str) -> str | None:
    """Return the IP address of a host if it is known without a name server, else None."""
    if host == "localhost" or host.endswith(".localhost"):
        return LOOPBACK
    try:
        return str(ip_address(host.partition("%")[0]))
    except ValueError:
        return None


def host_of(url: str) -> str:
    """Return the normalized host of a URL, under which requests are counted.

    Returns "" for an old URL that is no longer valid: no requests are sent there.
    """
    try:
        host = read_base(url).host.rstrip(".")
    except UsageError:
        return ""
    return literal(host) or host


PROGRAM: Final = "program:"
"""Prefix of the specs of uploaded programs."""

BUILTIN: Final = "builtin:"
"""Prefix of the specs of built-in strategies."""

VERSION: Final = "version"
"""The bot setting that stores the number of the active version."""

Hosting: TypeAlias = Literal["off", "sandboxed"]
"""How uploaded programs are run: not at all, or in the sandbox.

If the sandbox is not available, only programs that the operator trusts may run without it; see
`programs.sandbox_of`.
"""


@dataclass(frozen=True, slots=True)
class ClaimedSeat:
    """A seat of a match as it was when the match was claimed."""

    name: str
    spec: str
    """`builtin:NAME`, `program:` and the SHA-256 of an upload, or the URL of a web service.

    "" if there is no bot yet. In a championship match, its parcel specifies who plays.
    """
    bot_id: str = ""
    """Public id of the bot; "" for a built-in strategy."""
    settings: Mapping[str, str] = field(default_factory=dict)
    secret: Sealed | None = None
    secret_row: str = ""
    """The bot id and secret version that the secret is bound to."""
    owner: str = ""
    """The username; "" for a built-in strategy, or if the user was deleted."""
    version: int | None = None
    """The number of the active version; None if it is not an upload."""

    @property
    def public(self) -> str:
        """The name of the seat in replays, which must not reveal a URL."""
        return self.bot_id or (self.spec if self.spec.startswith(BUILTIN) else self.name)


def is_version_played() -> ColumnElement[bool]:
    """Return the condition that joins a bot with its active uploaded version, if any."""
    return and_(
        Bot.kind == "program",
        BotVersion.bot_id == Bot.id,
        BotVersion.number == Bot.settings[VERSION].as_integer(),
        BotVersion.state == "ready",
    )


def version_played(bot: Bot | Row[*tuple[Any, ...]]) -> int | None:
    """Return the number of a bot's active uploaded version, or None."""
    number: int | None = bot.settings.get(VERSION) if bot.kind == "program" else None
    return number


def claimed_seat(
    bot: Bot,
    name: str = "",
    owner: str = "",
    version: BotVersion | None = None,
    endpoint: str = "",
) -> ClaimedSeat:
    """Return a bot's seat in its current state, under the given name or its own.

    `version` is the upload that plays, if any; `endpoint` is the bot's URL when its match was
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
    """Return the settings passed to a bot's program or service: those whose values are text."""
    return {name: value for name, value in bot.settings.items() if isinstance(value, str)}
