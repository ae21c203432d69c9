"""The versions of a bot as their author sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.kits import LANGUAGES
from cw_hub.store.tables import BotActivation, BotVersion, VersionState

LISTED: Final = 50
"""Versions of a bot that are listed, and marked on its graph."""


@dataclass(frozen=True, slots=True)
class Version:
    """An uploaded program."""

    number: int
    sha256: str
    size: int
    """In bytes, as stored."""
    language: str
    """The name that kits use; "" if unknown."""
    note: str
    state: VersionState
    log: str
    """The names of its files."""
    checks: Sequence[Mapping[str, Any]] | None
    """The steps of its check; None before it is checked."""
    created_at: datetime

    @property
    def language_title(self) -> str:
        """The language, for people."""
        known = LANGUAGES.get(self.language)
        return known.title if known else ""


def versions_of(session: Session, bot: int, most: int = LISTED) -> tuple[Version, ...]:
    """Return the last versions of a bot, latest first."""
    query = select(BotVersion).where(BotVersion.bot_id == bot)
    rows = session.scalars(query.order_by(BotVersion.number.desc()).limit(most))
    return tuple(map(view_of, rows))


def find(session: Session, bot: int, number: int) -> Version | None:
    """Return a version of a bot, or None."""
    query = select(BotVersion).where(BotVersion.bot_id == bot, BotVersion.number == number)
    row = session.scalars(query).one_or_none()
    return None if row is None else view_of(row)


def view_of(row: BotVersion) -> Version:
    """Return a version as its author sees it."""
    return Version(
        row.number,
        row.sha256,
        row.size,
        row.language,
        row.note,
        row.state,
        row.log,
        row.checks,
        row.created_at,
    )


@dataclass(frozen=True, slots=True)
class Activation:
    """The moment from which a version plays."""

    number: int
    at: datetime


def activations_of(session: Session, bot: int, most: int = LISTED) -> list[Activation]:
    """Return the last activations of a bot's versions, oldest first."""
    query = select(BotActivation).where(BotActivation.bot_id == bot)
    rows = session.scalars(query.order_by(BotActivation.id.desc()).limit(most)).all()
    return [Activation(row.number, row.at) for row in reversed(rows)]
