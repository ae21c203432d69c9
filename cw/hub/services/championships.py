"""The matches of championships that are run elsewhere: planned, looked at, called off.

Who runs one asks for its matches one by one, and appends how they ended to a journal of its own.
The key of a match is the id of that championship's folder, a slash and the id of the match there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.services import matches
from cw.hub.services.matches import ANEW, OPEN, Message, Plan, Seat
from cw.hub.store.tables import Match, MatchKind, MatchState
from cw.matches.spec import MatchSpec

KIND: Final[MatchKind] = "championship"

PREFIX: Final = "championships"
"""Where objects lie that its matches are sent with, and what came of them; nothing links there."""

CALLED_OFF: Final = "its championship was stopped"


class Standing(NamedTuple):
    """How a match stands."""

    id: int
    state: MatchState
    attempt: int
    reason: str | None


def key_of(folder: str, match: str) -> str:
    """Return the key of a match, by its id in the folder of its championship."""
    return f"{folder}/{sha256(match.encode()).hexdigest()[:32]}"


def parcel_key(key: str) -> str:
    """Return where the object lies that a match is sent with."""
    return f"{PREFIX}/{key}.json"


def folder_of(key: str) -> str:
    """Return the id of the folder of a match's championship."""
    return key.partition("/")[0]


def program_key(folder: str, digest: str) -> str:
    """Return where the zip of a program lies: once for its championship."""
    return f"{PREFIX}/{folder}/programs/{digest}"


def outcome_key(key: str, attempt: int) -> str:
    """Return where an attempt leaves all that came of a match."""
    return f"{PREFIX}/{key}-{attempt}.json.gz"


def plan(session: Session, clock: Clock, key: str, spec: MatchSpec, seats: Sequence[Seat]) -> int:
    """Make the row of a match, or queue the one that was called off or has failed; return its id.

    Twice: the same row, whatever it has come to meanwhile.
    """
    wanted = Plan(KIND, key, spec.game, tuple(seats), options=spec.options, seed=spec.seed)
    match = matches.plan(session, clock, wanted)
    given_up = Match.state.in_(("void", "failed"))
    session.execute(update(Match).where(Match.id == match, given_up).values(ANEW))
    return match


def take_message(session: Session, clock: Clock, match: int) -> Message | None:
    """Return the message of a match that waits and was not sent, and note that it is sent.

    To be sent after the commit. Twice, or beside a tick: one of them has it.
    """
    unsent = (Match.id == match, Match.state == "queued", Match.sent_at.is_(None))
    change = update(Match).where(*unsent).values(sent_at=clock())
    sent = session.execute(change.returning(Match.id, Match.kind, Match.request_id)).one_or_none()
    return None if sent is None else Message(*sent)


def standings(session: Session, chosen: Collection[int]) -> list[Standing]:
    """Return how some matches stand."""
    query = select(Match.id, Match.state, Match.attempt, Match.reason).where(Match.id.in_(chosen))
    return [Standing(*row) for row in session.execute(query)]


def open_keys(session: Session, folder: str) -> set[str]:
    """Return the keys of the matches of a championship that are not over."""
    its = Match.key.startswith(f"{folder}/", autoescape=True)
    query = select(Match.key).where(Match.kind == KIND, Match.state.in_(OPEN), its)
    return set(session.scalars(query))


def call_off(
    session: Session, clock: Clock, chosen: Collection[int], *, with_played: bool = False
) -> None:
    """Call off those of some matches that wait, and those that are played if that is wanted.

    Who plays one finds that it is not theirs any more, and stops. Twice: the same.
    """
    states: tuple[MatchState, ...] = OPEN if with_played else ("queued", "interrupted")
    off = {
        "state": "void",
        "finished_at": clock(),
        "reason": CALLED_OFF,
        "worker": None,
        "lease_until": None,
    }
    session.execute(update(Match).where(Match.id.in_(chosen), Match.state.in_(states)).values(off))
