"""Queries behind the match pages: one match by public id, or many for a list, with their seats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Row, and_, bindparam, or_, select

from cw.games.registry import games_with_hidden_information
from cw.league.glicko2 import Rating
from cw_hub.matches.match_types import MatchType, MatchTypes, MatchView, SeatView
from cw_hub.matches.results import OPEN
from cw_hub.pages.forms import natural_order
from cw_hub.players.playing import is_shown
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Battle,
    Bot,
    Competition,
    Match,
    MatchParticipant,
    MatchState,
    Team,
    User,
)

OVER: Final[tuple[MatchState, ...]] = ("done", "void")
"""States of matches that are no longer played; a failed match may be queued again."""

PODIUM: Final = 3
"""Number of places that lists show for a match in which all bots play."""

RECENT: Final = 6
"""Recent matches searched for one that can be watched."""

_MATCHES, _BATTLES = Match.__table__, Battle.__table__
_SEATS, _BOTS, _USERS = MatchParticipant.__table__, Bot.__table__, User.__table__
_TEAMS, _COMPETITIONS = Team.__table__, Competition.__table__

_BATTLE: Final = and_(
    _BATTLES.c.match_id == _MATCHES.c.id,
    _BATTLES.c.number == bindparam("battle"),
    _BATTLES.c.pruned_at.is_(None),
)
NAMED: Final = (
    select(
        _MATCHES.c.id,
        _MATCHES.c.match_id,
        _MATCHES.c.competition_id,
        _MATCHES.c.kind,
        _MATCHES.c.game,
        _MATCHES.c.state,
        _MATCHES.c.attempt,
        _MATCHES.c.turn,
        _MATCHES.c.reason,
        _MATCHES.c.seed,
        _MATCHES.c.players,
        _MATCHES.c.at,
        _MATCHES.c.started_at,
        _MATCHES.c.finished_at,
        _MATCHES.c.map_id,
        _MATCHES.c.level,
        _MATCHES.c.seq,
        _BATTLES.c.replay_key,
    )
    .outerjoin(_BATTLES, _BATTLE)
    .where(_MATCHES.c.match_id == bindparam("name"))
)
"""Selects a match with the key of its replay."""

SEATS: Final = (
    select(
        _SEATS.c.match_id,
        _SEATS.c.slot,
        _SEATS.c.name,
        _SEATS.c.bot_id,
        _BOTS.c.bot_id.label("public_id"),
        _BOTS.c.user_id,
        _USERS.c.username,
        _USERS.c.avatar,
        _USERS.c.country,
        _SEATS.c.rank,
        _SEATS.c.score,
        _SEATS.c.faults,
        _SEATS.c.stats,
        _SEATS.c.mu,
        _SEATS.c.phi,
        _SEATS.c.sigma,
        _SEATS.c.pair_rank,
        _BOTS.c.team_id,
        _TEAMS.c.name.label("team"),
        _COMPETITIONS.c.slug.label("tournament"),
    )
    .outerjoin(_BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .outerjoin(_USERS, _USERS.c.id == _BOTS.c.user_id)
    .outerjoin(_TEAMS, _TEAMS.c.id == _BOTS.c.team_id)
    .outerjoin(_COMPETITIONS, _COMPETITIONS.c.id == _TEAMS.c.competition_id)
    .where(_SEATS.c.match_id.in_(bindparam("matches", expanding=True)))
    .order_by(_SEATS.c.match_id, _SEATS.c.slot)
)
"""Selects the seats of matches, by slot."""

LISTED_SEATS: Final = SEATS.join(_MATCHES, _MATCHES.c.id == _SEATS.c.match_id).where(
    or_(
        _MATCHES.c.kind.not_in(bindparam("crowds", expanding=True)),
        _SEATS.c.rank <= PODIUM,
    )
)
"""The same for lists: only the top places of matches in which all bots play, maybe a thousand."""

OWN_SEATS: Final = SEATS.where(_BOTS.c.user_id == bindparam("viewer"))

_LAST, _EARLIER = _SEATS.alias(), _SEATS.alias()
_ITS_MATCH = _MATCHES.alias()
_PREVIOUS: Final = (
    select(_EARLIER.c.match_id)
    .join(_ITS_MATCH, _ITS_MATCH.c.id == _EARLIER.c.match_id)
    .where(
        _EARLIER.c.bot_id == _SEATS.c.bot_id,
        _EARLIER.c.match_id < _SEATS.c.match_id,
        _ITS_MATCH.c.competition_id == _MATCHES.c.competition_id,
        _ITS_MATCH.c.seq < _MATCHES.c.seq,
    )
    .order_by(_EARLIER.c.match_id.desc())
    .limit(1)
    .correlate(_SEATS, _MATCHES)
    .scalar_subquery()
)
RATINGS_BEFORE: Final = (
    select(_MATCHES.c.match_id, _SEATS.c.bot_id, _LAST.c.mu, _LAST.c.phi, _LAST.c.sigma)
    .join(_SEATS, _SEATS.c.match_id == _MATCHES.c.id)
    .outerjoin(_LAST, and_(_LAST.c.bot_id == _SEATS.c.bot_id, _LAST.c.match_id == _PREVIOUS))
    .where(
        _MATCHES.c.match_id.in_(bindparam("names", expanding=True)), _SEATS.c.bot_id.is_not(None)
    )
)
"""Selects bots' ratings before matches, from the previous rated match; null for the first."""


def find(  # noqa: PLR0913 - which match, and how much of it
    session: Session,
    kinds: MatchTypes,
    match_id: str,
    viewer: int | None = None,
    *,
    whole: bool = False,
    battle: int = 1,
) -> MatchView | None:
    """Return a match by its public id, with the replay of a battle, or None.

    A finished match in which all bots play comes with the viewer's seats only, unless the whole is
    requested.
    """
    row = session.execute(NAMED, {"name": match_id, "battle": battle}).one_or_none()
    if row is None:
        return None
    kind = kinds.of(row.kind)
    if whole or not kind.is_crowd or row.state != "done":
        seats = seats_in(session.execute(SEATS, {"matches": [row.id]}))
    elif viewer is None:
        seats = ()
    else:
        seats = seats_in(session.execute(OWN_SEATS, {"matches": [row.id], "viewer": viewer}))
    return viewed(row, kind, seats, row.replay_key)


def with_ratings(session: Session, matches: Sequence[MatchView]) -> list[MatchView]:
    """Return matches with their bots' previous ratings; takes at most one statement."""
    rated = [match.match_id for match in matches if match.seq is not None]
    before = ratings_before(session, rated) if rated else {}
    return [
        match.with_before(before[match.match_id]) if match.match_id in before else match
        for match in matches
    ]


def ratings_before(session: Session, names: Sequence[str]) -> dict[str, dict[int, Rating]]:
    """Return the ratings before rated matches, by match and bot."""
    before: defaultdict[str, dict[int, Rating]] = defaultdict(dict)
    for match, bot, *figures in session.execute(RATINGS_BEFORE, {"names": names}):
        before[match][bot] = rating_of(*figures) or Rating()
    return before


def rating_of(mu: float | None, phi: float | None, sigma: float | None) -> Rating | None:
    """Return a rating from the columns of a row, or None."""
    if mu is None or phi is None or sigma is None:
        return None
    return Rating(mu, phi, sigma)


def views_of(
    session: Session, kinds: MatchTypes, rows: Sequence[Match], *, with_replays: bool = True
) -> list[MatchView]:
    """Return matches for lists with their listed seats; takes two statements.

    Without replays, which saves one statement, they look as if none was stored.
    """
    ids = [row.id for row in rows]
    if not ids:
        return []
    keys = first_replays(session, ids) if with_replays else {}
    listed = session.execute(LISTED_SEATS, {"matches": ids, "crowds": kinds.crowds})
    by_match = groupby(listed, key=lambda seat: seat.match_id)
    seats = {match: seats_in(slots) for match, slots in by_match}
    return [
        viewed(row, kinds.of(row.kind), seats.get(row.id, ()), keys.get(row.id)) for row in rows
    ]


def first_replays(session: Session, matches: Sequence[int]) -> dict[int, str | None]:
    """Return the replay key of each match's first battle, by match, unless it was deleted."""
    first = select(Battle.match_id, Battle.replay_key).where(
        Battle.match_id.in_(matches), Battle.number == 1, Battle.pruned_at.is_(None)
    )
    return {match: key for match, key in session.execute(first)}  # noqa: C416 - of rows


def viewed(
    row: Match | Row[*tuple[Any, ...]],
    kind: MatchType,
    seats: tuple[SeatView, ...],
    key: str | None,
) -> MatchView:
    """Return a row as a view with its seats and replay key, without what is still hidden."""
    is_over = row.state in OVER
    is_hidden = row.state in OPEN and row.game in games_with_hidden_information()
    if is_hidden:
        seats = () if kind.hides_players else by_name(seats)
    return MatchView(
        row.match_id,
        row.competition_id,
        kind,
        row.game,
        row.state,
        row.attempt,
        row.turn,
        row.reason,
        row.seed if is_over else None,
        row.at,
        row.started_at,
        row.finished_at,
        seats,
        row.players,
        key,
        row.map_id if is_over else None,
        None if is_hidden else row.level,
        row.seq,
        is_hidden,
    )


def by_name(seats: Sequence[SeatView]) -> tuple[SeatView, ...]:
    """Return seats in an order that does not reveal their slots, and numbered accordingly."""
    ordered = sorted(seats, key=lambda seat: natural_order(seat.name))
    return tuple(replace(seat, slot=number) for number, seat in enumerate(ordered))


def seats_in(rows: Iterable[Row[*tuple[Any, ...]]]) -> tuple[SeatView, ...]:
    """Return seats from rows."""
    return tuple(
        SeatView(
            seat.slot,
            seat.name,
            seat.bot_id is None,
            seat.bot_id,
            seat.user_id,
            seat.username,
            seat.avatar,
            seat.country,
            seat.rank,
            seat.score,
            seat.faults,
            seat.stats,
            rating_of(seat.mu, seat.phi, seat.sigma),
            pair_rank=seat.pair_rank,
            bot_id=seat.public_id,
            tournament=seat.tournament,
            team_id=seat.team_id,
            team=seat.team,
        )
        for seat in rows
    )


def latest_to_watch(session: Session, kinds: MatchTypes) -> MatchView | None:
    """Return the public match that ended last and can be watched, or None."""
    rows = (
        select(Match)
        .where(Match.state == "done", Match.kind.not_in(kinds.private))
        .order_by(Match.id.desc())
        .limit(RECENT)
    )
    views = views_of(session, kinds, session.scalars(rows).all())
    return next((view for view in views if view.replay_key), None)


MOST: Final = 12
"""Maximum number of matches listed."""


def running(session: Session, kinds: MatchTypes) -> list[MatchView]:
    """Return the public matches in progress, the strongest first."""
    rows = (
        select(Match)
        .where(Match.state == "in_progress", Match.kind.not_in(kinds.private))
        .order_by(Match.level.desc().nulls_last(), Match.id)
        .limit(MOST)
    )
    return views_of(session, kinds, session.scalars(rows).all())


def on_now(session: Session, kinds: MatchTypes) -> tuple[MatchView | None, list[MatchView]]:
    """Return the match to watch, and all matches in progress.

    The match to watch is the strongest that can be watched live, otherwise the latest finished one.
    """
    matches = running(session, kinds)
    strongest = next((match for match in matches if is_shown(match.game)), None)
    return strongest or latest_to_watch(session, kinds), matches
