"""Plans matches: who plays what, and why."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.games.registry import game_entry
from cw_hub.clock import Clock
from cw_hub.store.tables import Match, MatchParticipant

EXACT: Final = 53
"""Bits of an integer that a page's script reads exactly."""


@dataclass(frozen=True, slots=True)
class Seat:
    """The planned occupant of a slot: a bot, or a built-in strategy without a row."""

    name: str
    bot_id: int | None = None
    spec: str | None = None
    """`builtin:NAME`, or `program:` of a program of a championship."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A planned match. Its kind and key identify it, which makes planning idempotent."""

    kind: str
    key: str
    """"" if nothing else identifies the match; then its own name is used."""
    game: str
    seats: tuple[Seat, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    competition_id: int | None = None
    seed: int | None = None
    """None to draw one."""
    map_id: str | None = None
    level: float | None = None
    """The average strength of its bots."""
    at: datetime | None = None
    """When it is due; None for now."""


def plan(session: Session, clock: Clock, wanted: Plan) -> int:
    """Create the row of a match, `queued`; return its id.

    Idempotent, also for concurrent callers: kind and key are unique, so all get the id of the same
    row.
    """
    match_id = f"m_{secrets.token_hex(4)}"
    match = Match(
        match_id=match_id,
        competition_id=wanted.competition_id,
        kind=wanted.kind,
        key=wanted.key or match_id,
        game=wanted.game,
        players=len(wanted.seats),
        options=dict(wanted.options),
        seed=draw_seed(wanted.game) if wanted.seed is None else wanted.seed,
        map_id=wanted.map_id,
        level=wanted.level,
        at=wanted.at or clock(),
    )
    try:
        # A savepoint, so that a duplicate key does not undo the caller's earlier changes.
        with session.begin_nested():
            session.add(match)
            session.flush()
            for slot, seat in enumerate(wanted.seats):
                row = {"bot_id": seat.bot_id, "name": seat.name, "spec": seat.spec}
                session.add(MatchParticipant(match_id=match.id, slot=slot, **row))
    except IntegrityError:
        same = select(Match.id).where(Match.kind == wanted.kind, Match.key == wanted.key)
        return session.scalars(same).one()
    return match.id


def draw_seed(game: str) -> int:
    """Draw a seed that fits the game and that browsers show exactly."""
    # Scripts of pages read integers as doubles (decisions 0008).
    return secrets.randbits(min(game_entry(game).seed_bits, EXACT))
