"""Stored replays: their keys in the object store, and how long they are kept."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, and_, exists, func, not_, or_, select, update

from cw.games.registry import game_entry
from cw_hub.matches.match_types import MatchTypes
from cw_hub.operation import heartbeats
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings
from cw_hub.players.messages import ReplayKeys
from cw_hub.store.database import Session
from cw_hub.store.models import Battle, Match, MatchParticipant
from cw_hub.store.objects import ARCHIVE, ARENA_FORMAT, OWN_FORMAT


def replay_key(match_id: str, planned_at: datetime, attempt: int, battle: int = 1) -> str:
    """Return the key of a replay; each attempt has its own, so that none overwrites another."""
    name = match_id
    name += f"-b{battle}" if battle > 1 else ""
    name += f"-{attempt}" if attempt > 1 else ""
    return f"replays/{planned_at:%Y/%m}/{name}{OWN_FORMAT}"


def viewed_key(game: str, key: str) -> str:
    """Return the key of the replay for the viewer."""
    ending = OWN_FORMAT if game_entry(game).exporter is None else ARENA_FORMAT
    if key.endswith(ARCHIVE):
        return f"{key}/{stem_of(key)}{ending}"
    return key.removesuffix(OWN_FORMAT) + ending


def own_key(key: str) -> str:
    """Return the key of the replay in the format of its game, or the arena's if it has none."""
    return f"{key}/{stem_of(key)}{OWN_FORMAT}" if key.endswith(ARCHIVE) else key


def objects_of(key: str) -> tuple[str, ...]:
    """Return the keys of all objects in which a replay may be stored."""
    if key.endswith(ARCHIVE):
        return (key,)
    return key, key.removesuffix(OWN_FORMAT) + ARENA_FORMAT


def replay_of(key: str) -> tuple[str, str]:
    """Return the match id and the replay key that an object belongs to."""
    replay = key
    if not key.endswith(ARCHIVE):
        replay = key.removesuffix(ARENA_FORMAT).removesuffix(OWN_FORMAT) + OWN_FORMAT
    return stem_of(key).partition("-")[0], replay


def stem_of(key: str) -> str:
    """Return the file name of a replay object without its extension."""
    return key.rpartition("/")[2].partition(".")[0]


def keys_for(game: str, key: str) -> ReplayKeys:
    """Return the keys under which a game's replay may be stored."""
    archive = key.removesuffix(OWN_FORMAT) + ARCHIVE
    return ReplayKeys(key, viewed_key(game, key), archive)


STRONGEST: Final = 100
"""Number of strongest matches per competition and month whose replays are kept permanently."""


class Ages(NamedTuple):
    """How long replays are kept after their matches."""

    usual: timedelta
    of_value: timedelta


def prune(resources: Resources, kinds: MatchTypes) -> int:
    """Delete outdated replays, first in the database; return how many.

    The total size of the remaining ones is stored for pages.
    """
    ages = ages_of(resources.settings)
    with resources.database.reading() as session:
        months = months_to_prune(session, ages, kinds)
    count = 0
    for month in months:
        with resources.database.writing() as session:
            keys = prune_month(session, month, ages, kinds)
        for key in keys:
            for part in objects_of(key):
                resources.objects.delete(part)
        count += len(keys)
    with resources.database.writing() as session:
        heartbeats.put(session, heartbeats.REPLAY_BYTES, stored_bytes(session))
    return count


def stored_bytes(session: Session) -> int:
    """Return the total size of stored replays in bytes; reads the row of each."""
    stored = select(func.coalesce(func.sum(Battle.bytes), 0)).where(Battle.pruned_at.is_(None))
    return int(session.scalars(stored).one())


def ages_of(settings: HubSettings) -> Ages:
    """Return how long replays are kept; valuable ones never less than the rest."""
    usual = timedelta(days=settings.replay_days)
    return Ages(usual, max(usual, timedelta(days=settings.replay_days_long)))


def months_to_prune(session: Session, ages: Ages, kinds: MatchTypes) -> list[datetime]:
    """Return the start of each month that has outdated replays."""
    old = too_old(session.now(), ages, kinds)
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
    """Return the start of the next month."""
    return (month + timedelta(days=31)).replace(day=1)


def too_old(now: datetime, ages: Ages, kinds: MatchTypes) -> ColumnElement[bool]:
    """Return the SQL condition for battles whose replays may be outdated."""
    return and_(
        Match.kind.in_(kinds.pruned),
        Match.finished_at < now - ages.usual,
        or_(Match.finished_at < now - ages.of_value, not_(is_of_value(kinds))),
        Battle.pruned_at.is_(None),
        Battle.replay_key.is_not(None),
    )


def is_of_value(kinds: MatchTypes) -> ColumnElement[bool]:
    """Return the SQL condition for matches that were requested, or that show a bot's failure."""
    crashed = exists().where(MatchParticipant.match_id == Match.id, MatchParticipant.crashed)
    return or_(Match.kind.in_(kinds.of_value), crashed)


def prune_month(session: Session, month: datetime, ages: Ages, kinds: MatchTypes) -> list[str]:
    """Mark outdated replays of a month as deleted, except those of its strongest matches.

    Returns their keys, to be deleted after the commit; any that remain are strays. Idempotent.
    """
    in_month = and_(Match.at >= month, Match.at < after(month))
    # Ranked among all matches of the month, including pruned ones, so that late runs keep the same
    # hundred.
    place = func.row_number().over(
        partition_by=Match.competition_id, order_by=(Match.level.desc().nulls_last(), Match.id)
    )
    has_place = and_(Match.kind.in_(kinds.by_strength), Match.state == "done", in_month)
    placed = select(Match.id, place.label("place")).where(has_place).subquery()
    strongest = select(placed.c.id).where(placed.c.place <= STRONGEST)
    weak = select(Match.id).where(in_month, Match.id.not_in(strongest))
    old = (
        select(Battle.match_id)
        .join(Match, Match.id == Battle.match_id)
        .where(too_old(session.now(), ages, kinds))
    )
    change = (
        update(Battle)
        .where(Battle.match_id.in_(weak), Battle.match_id.in_(old), Battle.pruned_at.is_(None))
        .values(pruned_at=session.now())
        .returning(Battle.replay_key)
    )
    return [key for key in session.scalars(change) if key is not None]


def strays(session: Session, keys: Iterable[str]) -> list[str]:
    """Return the objects of replays that were abandoned, or whose match is not done."""
    replays = {key: replay_of(key) for key in keys}
    named = select(Battle.replay_key).join(Match, Match.id == Battle.match_id)
    known = named.where(
        Match.match_id.in_({match_id for match_id, _ in replays.values()}),
        Battle.pruned_at.is_(None),
    )
    keys_in_use = set(session.scalars(known))
    return [key for key, (_, replay) in replays.items() if replay not in keys_in_use]
