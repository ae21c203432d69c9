"""Queries and texts for the history of daily games: calendar, rank graphs, bots' behaviour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    bindparam,
    func,
    select,
)

from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.daily.service import GAME, NO_SEAT
from cw_hub.competitions.daily.standings import EARLIER, WITHIN, Game, game_of, is_shown
from cw_hub.competitions.home import PERIODS
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.pages.request import resources
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, Match, MatchParticipant

_COMPETITIONS, _BOTS = Competition.__table__, Bot.__table__
_MATCHES, _SEATS = Match.__table__, MatchParticipant.__table__


def month(session: Session, facts: CompetitionFacts, first: date) -> dict[date, list[Game]]:
    """Return a month's shown games, by day in the competition's time zone."""
    due = daily_service.read_settings(facts.settings).due
    begin = datetime.combine(first, time(), due.zone)
    end = datetime.combine((first + timedelta(days=32)).replace(day=1), time(), due.zone)
    values = {"competition": facts.id, "begin": begin, "end": end}
    rows = session.execute(WITHIN, values)
    days: dict[date, list[Game]] = {}
    for row in rows:
        days.setdefault(due.day_of(row.at), []).append(game_of(row))
    return days


class Point(NamedTuple):
    """A point of a user's rank graph: one game that the user played."""

    match: str
    at: datetime
    rank: int
    players: int


_COMPETITION: Final = (
    select(_COMPETITIONS.c.id)
    .where(
        _COMPETITIONS.c.format == daily_service.FORMAT, _COMPETITIONS.c.slug == bindparam("game")
    )
    .scalar_subquery()
)
_THEIRS: Final = select(_BOTS.c.id).where(_BOTS.c.user_id == bindparam("user")).scalar_subquery()

# With a join, SQLite would read all participants of each game.
_BEST: Final = (
    select(func.min(_SEATS.c.rank))
    .where(_SEATS.c.match_id == _MATCHES.c.id, _SEATS.c.bot_id.in_(_THEIRS))
    .correlate(_MATCHES)
    .scalar_subquery()
)
_PLAYED: Final = (
    select(
        _MATCHES.c.match_id, _MATCHES.c.at, _BEST.label("best"), _MATCHES.c.players, _MATCHES.c.id
    )
    .where(
        _MATCHES.c.competition_id == _COMPETITION,
        _MATCHES.c.state == "done",
        _MATCHES.c.at >= bindparam("since"),
    )
    .subquery()
)
POINTS: Final = (
    select(_PLAYED.c.match_id, _PLAYED.c.at, _PLAYED.c.best, _PLAYED.c.players)
    .where(_PLAYED.c.best.is_not(None))
    .order_by(_PLAYED.c.at, _PLAYED.c.id)
)

_FIRST_OF_BOT: Final = (
    select(_MATCHES.c.at)
    .join(_SEATS, _SEATS.c.match_id == _MATCHES.c.id)
    .where(
        _SEATS.c.bot_id == _BOTS.c.id,
        _SEATS.c.rank.is_not(None),
        _MATCHES.c.kind == daily_service.FORMAT,
        _MATCHES.c.state == "done",
    )
    .order_by(_SEATS.c.match_id)
    .limit(1)
    .correlate(_BOTS)
    .scalar_subquery()
)
FIRST: Final = select(func.min(_FIRST_OF_BOT)).where(
    _BOTS.c.user_id == bindparam("user"), _BOTS.c.game == bindparam("game")
)

LAST_RANK: Final = select(func.min(_SEATS.c.rank)).where(
    _SEATS.c.match_id
    == select(_MATCHES.c.id)
    .where(_MATCHES.c.competition_id == _COMPETITION, is_shown())
    .order_by(_MATCHES.c.at.desc(), _MATCHES.c.id.desc())
    .limit(1)
    .scalar_subquery(),
    _SEATS.c.bot_id.in_(_THEIRS),
)

BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""A time before all games."""


def points(session: Session, game: str, user_id: int, since: datetime = BEGINNING) -> list[Point]:
    """Return a user's shown games since a time, oldest first, each with the user's best rank."""
    values = {"game": game, "user": user_id, "since": since}
    return [Point(*row) for row in session.execute(POINTS, values)]


def first_played(session: Session, game: str, user_id: int) -> datetime | None:
    """Return when a user's first shown game took place, or None."""
    query: datetime | None = session.scalar(FIRST, {"game": game, "user": user_id})
    return query


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A bot's behaviour in a game."""

    match_id: str
    at: datetime
    rank: int | None
    """None if the bot was not admitted."""
    report: Mapping[str, Any] | None
    """The report of its first problem, or None."""
    died: int | None


BEHAVIOURS: Final = (
    select(_MATCHES.c.match_id, _MATCHES.c.at, _SEATS.c.rank, _SEATS.c.faults, _SEATS.c.stats)
    .join(_SEATS, _SEATS.c.match_id == _MATCHES.c.id)
    .join(_BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .where(_BOTS.c.user_id == bindparam("user"), _MATCHES.c.game == GAME, is_shown())
    .order_by(_MATCHES.c.at.desc(), _MATCHES.c.id.desc())
    .limit(EARLIER)
)


def behaviours(session: Session, user_id: int) -> list[Behaviour]:
    """Return the behaviour of a user's bot in its last shown games, latest first."""
    return [
        Behaviour(match, at, rank, faults[0] if faults else None, stats.get("died"))
        for match, at, rank, faults, stats in session.execute(BEHAVIOURS, {"user": user_id})
    ]


def last_rank(session: Session, user_id: int) -> int | None:
    """Return a user's rank in the last daily game of End of Codes, or None if they did not play."""
    rank: int | None = session.scalar(LAST_RANK, {"game": GAME, "user": user_id})
    return rank


DEFAULT: Final = "10d"
ALWAYS: Final = (DEFAULT, "all")


@dataclass(frozen=True, slots=True)
class Graph:
    """A user's rank graph as it is first shown."""

    points: Sequence[Point]
    """Points of the last 10 days."""
    periods: Mapping[str, str]
    """The labels of the selectable periods, by name."""


def graph_of(session: Any, game: str, user_id: int) -> Graph:
    """Return a user's rank graph for a game."""
    now = resources().clock()
    first = first_played(session, game, user_id)
    return Graph(points_of(session, game, user_id, DEFAULT), offered(first, now))


def offered(first: datetime | None, now: datetime) -> dict[str, str]:
    """Return the selectable periods: the usual ones, and those that a player's history covers."""
    return {
        name: words
        for name, (words, length) in PERIODS.items()
        if name in ALWAYS or (first and length and now - first >= length)
    }


def points_of(session: Any, game: str, user_id: int, period: str) -> list[Point]:
    """Return the points of a user's rank graph in a period."""
    length = PERIODS[period][1]
    since = BEGINNING if length is None else resources().clock() - length
    return points(session, game, user_id, since)


FINE: Final = "Your bot played correctly in the last game"
ABSENT: Final = "Your bot did not take part in the last game"
UNSEATED: Final = "There was no seat for your bot in the last game"
KILLED: Final = " and your creatures were killed by the grader"

LARGEST: Final = {"game": "64 KiB", "round": "256 KiB"}
"""Maximum size of a response, by request."""

LEFT_OUT: Final = "left out a key: expected {expected}, got {actual}"
WORDS: Final[Mapping[str, str]] = {
    "could_not_resolve": "stopped resolving",
    "unreachable": "stopped being accessible through the network",
    "could_not_connect": "rejected connections",
    "tls_error": "did not complete the HTTPS handshake",
    "timeout": "did not answer within 5 seconds",
    "broken_reply": "closed the connection before its answer was complete",
    "exception": "stopped with an exception",
    "http_code_not_ok": "responded with HTTP code {actual} when 200 OK was expected",
    "invalid_json": "returned a non-JSON response when valid JSON was expected",
    "oversize": "sent an answer above {largest}",
    "wrong_type": "sent a value of inappropriate type: expected {expected}, got {actual}",
    "error_key": 'indicated an error: "{actual}"',
    "additional_data": "sent invalid keys: {actual}",
    "intent_additional_data": "sent invalid keys: {actual}",
    "intent_not_set": LEFT_OUT,
    "creatureid_not_set": LEFT_OUT,
    "action_not_set": LEFT_OUT,
    "direction_not_set": LEFT_OUT,
    "response_not_object": LEFT_OUT,
    "action_invalid": "sent an incorrect action: {actual}",
    "direction_invalid": "sent an incorrect direction: {actual}",
    "invalid_creatureid": "gave an intent for an unknown creature: {actual}",
    "intent_not_own_creature": "gave an intent for a creature of another player: {actual}",
    "intent_dead_creature": "gave an intent for a dead creature: {actual}",
    "intent_duplicate": "gave an intent for the same creature twice: {actual}",
}
"""Texts that say what a bot did, by error name without the request."""


def sentence(behaviour: Behaviour | None) -> str:
    """Return a message about a bot's behaviour in the last game; None: it did not take part."""
    if behaviour is None:
        return ABSENT
    if behaviour.report is None:
        return FINE
    return problem(behaviour.report, behaviour.died)


def problem(report: Mapping[str, Any], died: int | None) -> str:
    """Return a message about a bot's first problem in a game."""
    if report["error"] == NO_SEAT:
        return UNSEATED
    request, _, name = report["error"].partition("_")
    if request == "initiate":
        return str(report["text"])
    facts = {**report, "largest": LARGEST.get(request, "")}
    words = WORDS[name].format_map(facts)
    turn = report["round"]
    when = "" if turn is None else f" in round {turn}"
    killed_in = 0 if turn is None else turn + 1
    return f"Your bot {words}{when}{KILLED if died == killed_in else ''}"
