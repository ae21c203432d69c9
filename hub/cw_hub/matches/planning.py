"""Planning matches (who plays what, and why), and sending them to the queue."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from sqlalchemy import ColumnElement, Select, and_, or_, select, true, update
from sqlalchemy.exc import IntegrityError

from cw.games.registry import game_entries, game_entry
from cw_hub import context
from cw_hub.bots.addresses import PROGRAM
from cw_hub.operation import logs
from cw_hub.operation.queue import PROGRAMS
from cw_hub.operation.resources import Resources
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, Match, MatchParticipant

EXACT: Final = 53
"""Number of bits of an integer that page scripts read exactly."""


@dataclass(frozen=True, slots=True)
class Seat:
    """The planned occupant of a slot: a bot, or a built-in strategy without a row."""

    name: str
    bot_id: int | None = None
    spec: str | None = None
    """`builtin:NAME`, or `program:` for a program brought by the format."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A planned match. Its kind and key identify it, which makes planning idempotent."""

    kind: str
    key: str
    """"" if nothing else identifies the match; then its public id is used."""
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


def plan(session: Session, wanted: Plan) -> int:
    """Create the row of a match in state `queued`; return its id.

    Idempotent, also for concurrent callers: kind and key are unique, so all of them get the id of
    the same row.
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
        at=wanted.at or session.now(),
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
    # Page scripts read integers as doubles (decisions 0008).
    return secrets.randbits(min(game_entry(game).seed_bits, EXACT))


PLAY: Final = "play_match"
"""The job that plays a match: it gets the match's row id, in the queue of its kind."""

LOST_AFTER: Final = timedelta(minutes=5)
"""How long after its message an unclaimed match is sent again."""

USUAL_LEASE: Final = 30.0
"""In seconds; a shorter lease means that lost matches should be retried soon."""

MOST_SENT: Final = 1000
"""Maximum number of messages per tick."""

MOST_TRIED: Final = 4
"""Maximum number of messages sent as soon as a program slot is free."""


@dataclass(frozen=True, slots=True)
class Message:
    """Signals that a match is waiting to be played. Only a hint: the row is authoritative."""

    id: int
    kind: str
    request_id: str | None = None
    """The id of the request or tick that planned it."""


Sending: TypeAlias = Callable[[Session, timedelta], list[Message]]
"""Like `to_send`, in the kind's own order."""


def to_send(
    session: Session,
    lost_after: timedelta = LOST_AFTER,
    apart: Collection[str] = (),
    most: int = MOST_SENT,
) -> list[Message]:
    """Return the matches whose messages are due, and mark them as sent.

    Send them after the commit. Idempotent, also for concurrent callers: the second one finds none
    due. A match still unclaimed after `lost_after` is due again; a duplicate message is claimed
    only once. Excludes the kinds in `apart`, and competitions of these formats, which have their
    own order.
    """
    now = session.now()
    due = and_(is_due(now, lost_after), is_none_of(apart))
    first = select(Match.id).where(due).order_by(Match.id).limit(most)
    change = update(Match).where(Match.id.in_(first), due).values(sent_at=now)
    rows = session.execute(change.returning(Match.id, Match.kind, Match.request_id))
    return sorted((Message(*row) for row in rows), key=lambda message: message.id)


def is_none_of(apart: Collection[str]) -> ColumnElement[bool]:
    """Return the SQL condition for matches without their own sending order."""
    theirs = select(Competition.id).where(Competition.format.in_(apart))
    is_free = or_(Match.competition_id.is_(None), Match.competition_id.not_in(theirs))
    return and_(Match.kind.not_in(apart), is_free) if apart else true()


def is_due(now: datetime, lost_after: timedelta) -> ColumnElement[bool]:
    """Return the SQL condition for matches whose messages are due, for the first time or again."""
    return and_(
        Match.state == "queued", or_(Match.sent_at.is_(None), Match.sent_at <= now - lost_after)
    )


def forget_messages(session: Session) -> None:
    """Mark all queued matches as unsent, because their messages may be lost."""
    session.execute(update(Match).where(Match.state == "queued").values(sent_at=None))


def put_back(session: Session, match: int) -> None:
    """Make a match wait until a program slot is free, or for the next tick."""
    waiting = update(Match).where(Match.id == match, Match.state == "queued")
    session.execute(waiting.values(sent_at=None))


def pass_on(session: Session, match: int) -> str | None:
    """Mark a match as unsent if its game is not installed here; return that game. Idempotent.

    None if the game is installed, or there is no such match.
    """
    game = session.scalar(select(Match.game).where(Match.id == match))
    if game is None or game in game_entries():
        return None
    put_back(session, match)
    return game


def of_programs(session: Session, matches: Collection[int]) -> set[int]:
    """Return the matches in which an uploaded program plays, or may play.

    The players of a daily game are determined when it starts: any program for its game may play.
    """
    if not matches:
        return set()
    is_program = or_(Bot.kind == "program", MatchParticipant.spec.startswith(PROGRAM))
    query = (
        select(MatchParticipant.match_id)
        .outerjoin(Bot, Bot.id == MatchParticipant.bot_id)
        .where(MatchParticipant.match_id.in_(matches), is_program)
        .distinct()
    )
    return {*session.scalars(query), *session.scalars(open_to_programs(matches))}


def open_to_programs(matches: Collection[int]) -> Select[int]:
    """Return the query for matches without seats yet that programs may join."""
    seated = select(MatchParticipant.match_id).where(MatchParticipant.match_id == Match.id)
    its = (Bot.game == Match.game, Bot.kind == "program", Bot.user_id.is_not(None))
    programs = select(Bot.id).where(*its, Bot.status == "ACTIVE")
    return select(Match.id).where(Match.id.in_(matches), ~seated.exists(), programs.exists())


def send_due(resources: Resources, own: Mapping[str, Sending]) -> None:
    """Send the messages of waiting matches; failed ones are sent again later.

    `own` maps kinds to their own sending orders.
    """
    with resources.database.writing() as session:
        due = to_send(session, lost_after(resources), tuple(own))
    if send(resources, due):
        send_own(resources, own)


def send_refused(resources: Resources, apart: Collection[str]) -> None:
    """Resend a few matches that waited for a program slot; ticks send the rest."""
    refused = and_(Match.state == "queued", Match.sent_at.is_(None), is_none_of(apart))
    with resources.database.reading() as session:
        if session.scalar(select(Match.id).where(refused).limit(1)) is None:
            return
    with resources.database.writing() as session:
        due = to_send(session, lost_after(resources), apart, MOST_TRIED)
    send(resources, due)


def send_now(resources: Resources, match: int, kind: str) -> None:
    """Send a match's message immediately, as a user is waiting for it."""
    send(resources, [Message(match, kind, context.present_id())])


def send_of(resources: Resources, competition: int) -> None:
    """Send the unsent messages of a competition's matches."""
    unsent = (
        Match.competition_id == competition,
        Match.state == "queued",
        Match.sent_at.is_(None),
    )
    change = update(Match).where(*unsent).values(sent_at=resources.clock())
    with resources.database.writing() as session:
        rows = session.execute(change.returning(Match.id, Match.kind, Match.request_id))
        due = sorted((Message(*row) for row in rows), key=lambda message: message.id)
    send(resources, due)


def send_own(resources: Resources, own: Mapping[str, Sending]) -> None:
    """Send the messages of matches whose kinds have their own order."""
    for sending in own.values():
        with resources.database.writing() as session:
            due = sending(session, lost_after(resources))
        if not send(resources, due):
            return


def lost_after(resources: Resources) -> timedelta:
    """Return how long after its message an unclaimed match is sent again."""
    # A short lease means that matches should be retried soon (decisions 0008). The usual one
    # implies nothing about messages, which wait while all workers are busy.
    lease = resources.settings.lease
    return LOST_AFTER if lease >= USUAL_LEASE else timedelta(seconds=lease)


def send(resources: Resources, due: Sequence[Message]) -> bool:
    """Send messages; return False if the queue is unavailable, and then all are sent again."""
    with resources.database.reading() as session:
        with_programs = of_programs(session, [message.id for message in due])
    for message in due:
        queue = PROGRAMS if message.id in with_programs else message.kind
        # The job is attributed to whatever planned the match, not to whatever happens to send it.
        with logs.about(request_id=message.request_id or context.present_id()):
            is_sent = resources.queue.send(PLAY, message.id, queue=queue)
        if not is_sent:
            with resources.database.writing() as session:
                # The rows are authoritative: with `sent_at` cleared, the next tick sends all of
                # them again.
                forget_messages(session)
            return False
    return True
