"""The condition of bots, from their last check and last matches, as all pages show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import select, union_all
from sqlalchemy.orm import Session

from cw_hub.bots.checks.health import PROTOCOL_STEPS
from cw_hub.bots.versions.verbs import failed_step
from cw_hub.players.messages import UNREACHABLE
from cw_hub.store.tables import Bot, BotStatus, Match, MatchParticipant

LAST: Final = 5
"""Matches of a bot that count."""

Word: TypeAlias = Literal["active", "failing", "pending", "inactive", "suspended", "retired"]


@dataclass(frozen=True, slots=True)
class Played:
    """A match that a bot has played, with its faults there."""

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
        """How many of the last matches had a fault."""
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
        """Whether it does not answer, which makes an active bot inactive after a while."""
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
    """Return the conditions of bots by the ids of their rows; for one page, not a whole site."""
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
    """Return the last finished matches of bots, latest first."""
    if not bots:
        return {}
    # One subquery for each bot, so that each reads only the end of an index.
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
