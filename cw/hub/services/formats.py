"""What the formats do of their own: plan matches when they are due, and take in how they ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias

from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.services import daily, ladder, ladder_queue, matches, rated
from cw.hub.services.matches import BattleResult, Claim, Finish, Message
from cw.hub.services.tournament_settings import FORMAT
from cw.hub.store.tables import MatchKind

Planning: TypeAlias = Callable[[Session, Clock], object]
"""Makes the rows of the matches that are due, in one transaction of a tick; twice, late and by two
at once it makes them once."""

Finishing: TypeAlias = Callable[[Session, Clock, Claim, Sequence[BattleResult]], object]
"""Takes in how a match has ended, in the transaction that writes it, and so once."""


Claiming: TypeAlias = Callable[[Session, Claim], Claim]
"""Returns a claim with what the format knows of it, in the transaction that takes the match."""

Holding: TypeAlias = Callable[[Session, Claim], object]
"""Locks what `finished` is going to change, before the match itself is changed: all take these
locks in the same order, so that no two wait for each other."""

Sending: TypeAlias = Callable[[Session, Clock, timedelta], list[Message]]
"""As `matches.to_send`, in an order of its own."""


@dataclass(frozen=True, slots=True)
class Format:
    """What a kind of matches has of its own; what it has not is None."""

    plan: Planning | None = None
    finished: Finishing | None = None
    claimed: Claiming | None = None
    hold: Holding | None = None
    to_send: Sending | None = None


FORMATS: Final[Mapping[MatchKind, Format]] = {
    "daily": Format(daily.plan, daily.finished),
    "ladder": Format(
        ladder.plan, ladder.finished, ladder.claimed, ladder.hold, ladder_queue.to_send
    ),
    "practice": Format(claimed=ladder.claimed),
    "rated": Format(rated.plan, rated.finished),
}
"""By the kind of their matches; a kind that is not there has nothing of its own."""

SENDING: Final = (FORMAT,)
"""The formats of competitions whose matches `to_send` of their own sends, of whatever kind."""


def plannings() -> list[Planning]:
    """Return what a tick plans."""
    return [one.plan for one in FORMATS.values() if one.plan is not None]


def sendings() -> list[Sending]:
    """Return what is sent in an order of its own."""
    return [one.to_send for one in FORMATS.values() if one.to_send is not None]


def claim(
    session: Session, clock: Clock, match: int, worker: str, lease: timedelta
) -> Claim | None:
    """Take a queued match for a worker, with what its format knows of it; see `matches.claim`."""
    taken = matches.claim(session, clock, match, worker, lease)
    own = FORMATS.get(taken.kind, Format()) if taken else Format()
    return own.claimed(session, taken) if taken and own.claimed else taken


def finish(session: Session, clock: Clock, of: Claim, battles: Sequence[BattleResult]) -> Finish:
    """Write what an attempt has come to, and let its format take it in; see `matches.finish`."""
    own = FORMATS.get(of.kind, Format())
    if own.hold is not None:
        own.hold(session, of)
    said = matches.finish(session, clock, of, battles)
    if said == "done" and own.finished is not None:
        own.finished(session, clock, of, battles)
    return said
