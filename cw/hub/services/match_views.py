"""Matches as pages show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Row, and_, bindparam, or_, select
from sqlalchemy.orm import Session, aliased

from cw.hub.services.matches import OPEN, wire_id
from cw.hub.store.tables import (
    Battle,
    Bot,
    Competition,
    Match,
    MatchKind,
    MatchParticipant,
    MatchState,
    Team,
    User,
)
from cw.league.glicko2 import Rating

ON_HOME: Final = 6
"""Matches in a list of the home page."""

PER_PAGE: Final = 50
"""Matches on a page of a list."""

PODIUM: Final = 3
"""The places of a daily game that lists name."""

LATEST: Final = 20
"""Matches on the page of a bot."""


@dataclass(frozen=True, slots=True)
class SeatView:
    """Who sat at a slot, and what came of it."""

    slot: int
    name: str
    is_builtin: bool
    bot: int | None
    """The id of the bot's row, None for a built-in strategy."""
    user_id: int | None
    """The owner of the bot, None for a built-in strategy and for a team."""
    owner: str | None
    """The username; None where that was deleted, too."""
    picture: str | None
    """The SHA-256 of the owner's picture."""
    country: str | None
    """Of the owner."""
    rank: int | None
    score: float | None
    faults: Sequence[Mapping[str, Any]]
    stats: Mapping[str, Any]
    after: float | None = None
    """The shown rating after the match; None where it was not rated."""
    before: float | None = None
    bot_id: str | None = None
    """The name of the bot outside of the database; None for a built-in strategy."""
    tournament: str | None = None
    """The slug of the tournament of the team whose bot it is."""
    team_id: int | None = None
    team: str | None = None
    """What the team is called."""


@dataclass(frozen=True, slots=True)
class MatchView:
    """A match for its page."""

    match_id: str
    competition_id: int | None
    kind: MatchKind
    game: str
    state: MatchState
    attempt: int
    turn: int
    reason: str | None
    seed: int
    at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    seats: tuple[SeatView, ...]
    """Those that are shown: of a daily game few of them."""
    players: int
    replay_key: str | None
    """Of a battle; None before the end, and after the replay was given up."""
    map_id: str | None = None
    level: float | None = None
    seq: int | None = None

    @property
    def wire_id(self) -> str:
        """The name under which bots knew it."""
        return wire_id(self.match_id, self.attempt)

    @property
    def title(self) -> str:
        """Who plays; of a daily game, in which everybody does, when it was due."""
        if self.kind == "daily":
            return f"Game of {self.at:%Y-%m-%d %H:%M} UTC"
        return " - ".join(seat.team or seat.name for seat in self.seats)

    @property
    def tag(self) -> str:
        """What differs whenever the page shows something else."""
        return f"{self.match_id}-{self.state}-{self.attempt}-{self.turn}"

    @property
    def by_rank(self) -> list[SeatView]:
        """The seats, the best first; those without a rank last."""
        return sorted(self.seats, key=lambda seat: (seat.rank is None, seat.rank, seat.slot))

    def result_of(self, bot: int) -> str:
        """Return how a bot came out of a match: `won`, `drawn`, `lost`, `3rd of 4`."""
        ranks = {seat.bot: seat.rank for seat in self.seats}
        rank, places = ranks.get(bot), [seat.rank for seat in self.seats]
        if rank == 1:
            return "won" if places.count(1) == 1 else "drawn"
        if len(places) == 2 or rank is None:
            return "lost"
        return f"{rank}{'nd' if rank == 2 else 'rd' if rank == 3 else 'th'} of {len(places)}"

    def is_public(self) -> bool:
        """Whether everybody may see it."""
        return self.kind != "practice"

    def shown_after(self, bot: int) -> float:
        """Return the shown rating of a bot that has played it, after it."""
        found = (seat.after for seat in self.seats if seat.bot == bot)
        return next((after for after in found if after is not None), Rating().shown)

    def with_before(self, ratings: Mapping[int, float]) -> MatchView:
        """Return it with the shown ratings that bots had before."""
        seats = tuple(
            seat if seat.bot is None else replace(seat, before=ratings.get(seat.bot))
            for seat in self.seats
        )
        return replace(self, seats=seats)


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
"""A match with the key of its replay."""

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
"""The slots of matches in their order."""

LISTED_SEATS: Final = SEATS.join(_MATCHES, _MATCHES.c.id == _SEATS.c.match_id).where(
    or_(_MATCHES.c.kind != "daily", _SEATS.c.rank <= PODIUM)
)
"""The same in lists of matches: of a daily game, which a thousand may play, the first alone."""

OWN_SEATS: Final = SEATS.where(_BOTS.c.user_id == bindparam("viewer"))


def find(
    session: Session,
    match_id: str,
    viewer: int | None = None,
    *,
    whole: bool = False,
    battle: int = 1,
) -> MatchView | None:
    """Return a match by its name for people, None if there is none; with the replay of a battle.

    Of a daily game that is over, which a thousand may have played, it has the seats of a viewer
    alone, unless it is wanted whole: the others are in its ranking.
    """
    row = session.execute(NAMED, {"name": match_id, "battle": battle}).one_or_none()
    if row is None:
        return None
    if whole or row.kind != "daily" or row.state != "done":
        seats = found_seats(session.execute(SEATS, {"matches": [row.id]}))
    elif viewer is None:
        seats = ()
    else:
        seats = found_seats(session.execute(OWN_SEATS, {"matches": [row.id], "viewer": viewer}))
    return viewed(row, seats, row.replay_key)


def name_of_game(session: Session, gameid: int) -> str | None:
    """Return the name for people of a daily game, None if there is none of that number."""
    return session.scalar(select(Match.match_id).where(Match.id == gameid, Match.kind == "daily"))


def practice_of(session: Session, bot: int) -> list[MatchView]:
    """Return the last practice matches of a bot, the latest first."""
    its = select(MatchParticipant.match_id).where(MatchParticipant.bot_id == bot)
    rows = (
        select(Match)
        .where(Match.id.in_(its), Match.kind == "practice")
        .order_by(Match.id.desc())
        .limit(LATEST)
    )
    return views_of(session, session.scalars(rows).all())


def latest_of_user(session: Session, user_id: int) -> list[MatchView]:
    """Return the last matches of the bots of a user, the latest first."""
    its = select(MatchParticipant.match_id).join(Bot, Bot.id == MatchParticipant.bot_id)
    rows = (
        select(Match)
        .where(Match.id.in_(its.where(Bot.user_id == user_id)))
        .order_by(Match.id.desc())
        .limit(ON_HOME)
    )
    return views_of(session, session.scalars(rows).all())


def open_to_all(session: Session) -> list[MatchView]:
    """Return the matches of no competition that all may see and that go on, those played first."""
    rows = (
        select(Match)
        .where(Match.state.in_(OPEN), Match.kind != "practice", Match.competition_id.is_(None))
        .order_by(Match.started_at.is_(None), Match.id)
        .limit(ON_HOME)
    )
    return views_of(session, session.scalars(rows).all())


@dataclass(frozen=True, slots=True)
class Choice:
    """Which matches of a list are wanted; "" and None: all."""

    game: str = ""
    bot: str = ""
    """Part of the name of one who plays."""
    players: int = 0
    state: str = ""
    best: str = ""
    """A month such as `2026-11`, of which the strongest are wanted."""
    page: int = 1


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a list of matches."""

    matches: Sequence[MatchView]
    page: int
    has_more: bool


def listing(session: Session, choice: Choice) -> Listing:
    """Return a page of the matches that everybody may see: the latest first, or the strongest."""
    wanted = select(Match).where(Match.kind != "practice")
    if choice.game:
        wanted = wanted.where(Match.game == choice.game)
    if choice.players:
        wanted = wanted.where(Match.players == choice.players)
    if choice.state:
        wanted = wanted.where(Match.state == choice.state)
    if choice.bot:
        key = choice.bot.casefold()
        named = select(Bot.id).where(Bot.name_key.contains(key, autoescape=True))
        its = select(MatchParticipant.match_id).where(MatchParticipant.bot_id.in_(named))
        wanted = wanted.where(Match.id.in_(its))
    if month := month_of(choice.best):
        wanted = wanted.where(Match.kind == "rated", Match.at >= month[0], Match.at < month[1])
        wanted = wanted.where(Match.state == "done")
        ordered = wanted.order_by(Match.level.desc(), Match.id)
    else:
        ordered = wanted.order_by(Match.id.desc())
    first = (max(choice.page, 1) - 1) * PER_PAGE
    rows = session.scalars(ordered.limit(PER_PAGE + 1).offset(first)).all()
    views = views_of(session, rows[:PER_PAGE])
    return Listing(views, max(choice.page, 1), len(rows) > PER_PAGE)


def month_of(text: str) -> tuple[datetime, datetime] | None:
    """Return the beginning of a month and of the next one; None for what is no month."""
    try:
        begin = datetime.strptime(text, "%Y-%m").replace(tzinfo=UTC)
    except ValueError:
        return None
    return begin, (begin + timedelta(days=31)).replace(day=1)


def rated_matches_of(session: Session, competition: int, bot: int) -> list[MatchView]:
    """Return the last rated matches of a bot that are over, the latest first, with its ratings."""
    # A bot plays one match at a time, so they end in the order in which they were made, and its
    # own index leads from one to the next.
    rows = session.scalars(
        select(Match)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(
            MatchParticipant.bot_id == bot,
            Match.competition_id == competition,
            Match.seq.is_not(None),
        )
        .order_by(MatchParticipant.match_id.desc())
        .limit(PER_PAGE + 1)
    ).all()
    views = views_of(session, rows)
    after = [*(one.shown_after(bot) for one in views), Rating().shown]
    pairs = zip(views, after[1:], strict=True)
    return [one.with_before({bot: before}) for one, before in pairs][:PER_PAGE]


def with_ratings(session: Session, match: MatchView) -> MatchView:
    """Return a match with the ratings that its bots had before."""
    if match.seq is None:
        return match
    return match.with_before(ratings_before(session, match))


def ratings_before(session: Session, match: MatchView) -> dict[int, float]:
    """Return the shown ratings of bots before a match that was rated."""
    seat, earlier, its = MatchParticipant, aliased(MatchParticipant), aliased(Match)
    last = (
        select(earlier.mu - 2 * earlier.phi)
        .join(its, its.id == earlier.match_id)
        .where(
            earlier.bot_id == seat.bot_id,
            earlier.match_id < seat.match_id,
            its.competition_id == match.competition_id,
            its.seq < match.seq,
        )
        .order_by(earlier.match_id.desc())
        .limit(1)
        .correlate(seat)
        .scalar_subquery()
    )
    rows = session.execute(
        select(seat.bot_id, last)
        .join(Match, Match.id == seat.match_id)
        .where(Match.match_id == match.match_id, seat.bot_id.is_not(None))
    )
    return {bot: Rating().shown if shown is None else shown for bot, shown in rows if bot}


def views_of(session: Session, rows: Sequence[Match]) -> list[MatchView]:
    """Return matches for lists, with the seats that these name: always two statements."""
    ids = [row.id for row in rows]
    if not ids:
        return []
    first = select(Battle.match_id, Battle.replay_key).where(
        Battle.match_id.in_(ids), Battle.number == 1, Battle.pruned_at.is_(None)
    )
    keys = {match: key for match, key in session.execute(first)}  # noqa: C416 - of rows
    found = groupby(session.execute(LISTED_SEATS, {"matches": ids}), key=lambda seat: seat.match_id)
    seats = {match: found_seats(slots) for match, slots in found}
    return [viewed(row, seats.get(row.id, ()), keys.get(row.id)) for row in rows]


def viewed(
    row: Match | Row[*tuple[Any, ...]], seats: tuple[SeatView, ...], key: str | None
) -> MatchView:
    """Return a row with its seats and the key of its replay."""
    return MatchView(
        row.match_id,
        row.competition_id,
        row.kind,
        row.game,
        row.state,
        row.attempt,
        row.turn,
        row.reason,
        row.seed,
        row.at,
        row.started_at,
        row.finished_at,
        seats,
        row.players,
        key,
        row.map_id,
        row.level,
        row.seq,
    )


def found_seats(rows: Iterable[Row[*tuple[Any, ...]]]) -> tuple[SeatView, ...]:
    """Return rows as seats."""
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
            None if seat.mu is None or seat.phi is None else seat.mu - 2 * seat.phi,
            bot_id=seat.public_id,
            tournament=seat.tournament,
            team_id=seat.team_id,
            team=seat.team,
        )
        for seat in rows
    )
