"""What keeps the hub in order: which workers live, and what may be forgotten."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, and_, delete, func, select, update
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.services.avatars import key_of
from cw.hub.services.replays import replay_of
from cw.hub.store.tables import Battle, Match, MatchKind, Ticket, User, Worker

LIVE: Final = timedelta(seconds=60)
"""How long ago a worker that lives was seen at most."""

GONE: Final = timedelta(days=1)
"""How long a worker that is not seen any more is remembered."""

PRUNED: Final[tuple[MatchKind, ...]] = ("rated", "practice")
"""The kinds of matches whose replays go after some time."""

STRONGEST: Final = 100
"""Rated matches of a competition and a month whose replays stay for good."""


def see_worker(session: Session, clock: Clock, name: str, version: str, slots: int) -> None:
    """Note that a worker lives. Twice: seen later."""
    now = clock()
    worker = session.get(Worker, name)
    if worker is None:
        worker = Worker(id=name, version=version, slots=slots, state="playing", started_at=now)
        session.add(worker)
    worker.seen_at = now


def live_workers(session: Session, clock: Clock) -> int:
    """Return how many workers live."""
    live = select(func.count()).where(Worker.seen_at > clock() - LIVE)
    return session.scalars(live).one()


def live_slots(session: Session, clock: Clock) -> int:
    """Return how many matches the workers that live can play at the same time."""
    slots = select(func.coalesce(func.sum(Worker.slots), 0))
    return int(session.scalars(slots.where(Worker.seen_at > clock() - LIVE)).one())


def forget_worker(session: Session, name: str) -> None:
    """Note that a worker has ended in an orderly way. Twice: the same."""
    session.execute(delete(Worker).where(Worker.id == name))


def sweep(session: Session, clock: Clock) -> None:
    """Forget tickets that have expired and workers that are gone. Twice: the same."""
    now = clock()
    session.execute(delete(Ticket).where(Ticket.expires_at <= now))
    session.execute(delete(Worker).where(Worker.seen_at <= now - GONE))


def months_to_prune(session: Session, clock: Clock, age: timedelta) -> list[datetime]:
    """Return the first moment of each month that has replays which are too old."""
    old = too_old(clock() - age)
    first, last = session.execute(
        select(func.min(Match.at), func.max(Match.at))
        .join(Battle, Battle.match_id == Match.id)
        .where(old)
    ).one()
    months = []
    while first is not None and first <= last:
        months.append(first.replace(day=1, hour=0, minute=0, second=0, microsecond=0))
        first = after(months[-1])
    return months


def after(month: datetime) -> datetime:
    """Return the first moment of the next month."""
    return (month + timedelta(days=31)).replace(day=1)


def too_old(ended: datetime) -> ColumnElement[bool]:
    """Return what holds for battles whose replays might go, of matches that ended before this."""
    return and_(
        Match.kind.in_(PRUNED),
        Match.finished_at < ended,
        Battle.pruned_at.is_(None),
        Battle.replay_key.is_not(None),
    )


def prune_month(session: Session, clock: Clock, month: datetime, age: timedelta) -> list[str]:
    """Give up the replays of a month that are too old, but not those of its strongest matches.

    Returns their keys, to be deleted after the commit; what is left behind then is a stray. Twice:
    none.
    """
    in_month = and_(Match.at >= month, Match.at < after(month))
    place = func.row_number().over(
        partition_by=Match.competition_id, order_by=(Match.level.desc().nulls_last(), Match.id)
    )
    rated = and_(Match.kind == "rated", Match.state == "done", in_month)
    placed = select(Match.id, place.label("place")).where(rated).subquery()
    strongest = select(placed.c.id).where(placed.c.place <= STRONGEST)
    weak = select(Match.id).where(in_month, Match.id.not_in(strongest))
    old = (
        select(Battle.match_id)
        .join(Match, Match.id == Battle.match_id)
        .where(too_old(clock() - age))
    )
    gone = (
        update(Battle)
        .where(Battle.match_id.in_(weak), Battle.match_id.in_(old), Battle.pruned_at.is_(None))
        .values(pruned_at=clock())
        .returning(Battle.replay_key)
    )
    return [key for key in session.scalars(gone) if key is not None]


def strays(session: Session, keys: Iterable[str]) -> list[str]:
    """Return those objects of replays that belong to no match which is done, or were given up."""
    replays = {key: replay_of(key) for key in keys}
    named = select(Battle.replay_key).join(Match, Match.id == Battle.match_id)
    known = named.where(
        Match.match_id.in_({match_id for match_id, _ in replays.values()}),
        Battle.pruned_at.is_(None),
    )
    kept = set(session.scalars(known))
    return [key for key, (_, replay) in replays.items() if replay not in kept]


def unused_pictures(session: Session, keys: Iterable[str]) -> list[str]:
    """Return those objects of pictures that nobody shows any more."""
    shown = select(User.avatar).where(User.avatar.is_not(None)).distinct()
    used = {key_of(digest) for digest in session.scalars(shown) if digest is not None}
    return [key for key in keys if key not in used]
