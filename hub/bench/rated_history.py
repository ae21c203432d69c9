"""A long history of rated matches, bulk-inserted: many bots, and many matches of each."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from sqlalchemy import Connection, bindparam, func, insert, select, text

from cw_hub.competitions.rated import service as rated_service
from cw_hub.competitions.rated.ratings import DAY
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Moment, Rating, User

GAME: Final = "code-battle"
FIRST_NAME: Final = "bot-0"
"""It plays in each sixteenth match: of a million, more than 60,000."""

OWNER: Final = "o0"
"""Whose it is."""

DAYS: Final = 100
"""The matches are spread over so many days before now."""

BOTS_OF_ONE: Final = 10

MATCHES: Final = """
WITH RECURSIVE numbers(n) AS (
    SELECT CAST(:first AS BIGINT) UNION ALL SELECT n + 1 FROM numbers WHERE n < :last
)
INSERT INTO matches (id, match_id, competition_id, kind, key, game, players, options, seed, level,
    state, attempt, troubles, turn, at, started_at, finished_at, reason, seq)
SELECT n, 'm_' || (10000000 + n), :competition, 'rated', 'bench ' || n, 'code-battle',
    CASE n % 20 WHEN 1 THEN 3 WHEN 2 THEN 4 WHEN 3 THEN 6 ELSE 2 END, '{}', n, 1500.0 + n % 500,
    'done', 1, 0, 200, :at, :at, :at, 'turn_limit', n FROM numbers
"""
BATTLES: Final = """
INSERT INTO battles (match_id, number, options, first_slot, reason, ranks, scores, turns,
    replay_key, bytes, started_at, ended_at)
SELECT id, 1, '{}', 0, reason, '[]', '[]', 200, 'replays/none.json.gz', 0, at, at
FROM matches WHERE id BETWEEN :first AND :last
"""
# Who sits at a slot: each sixteenth match the first bot, else the others in a scattered order.
SEATS: Final = """
INSERT INTO match_participants (match_id, slot, bot_id, name, rank, score, pair_rank, crashed,
    faults, stats, mu, phi, sigma)
SELECT placed.id, placed.slot, placed.bot, bots.name, placed.place, placed.place, placed.place,
    FALSE, '[]', '{}', 1000.0 + (placed.bot * 613) % 1000 + placed.id % 40, 60.0, 0.06
FROM (
    SELECT m.id, s.players AS slot, (s.players + m.id) % m.players + 1 AS place,
        CASE WHEN s.players = 0 AND m.id % 16 = 0 THEN :bot ELSE :bot + 1 + (
            m.id * 7907 + s.players * (1 + m.id / :others % :steps)) % :others END AS bot
    FROM matches m JOIN (
        SELECT 0 AS players UNION SELECT 1 UNION SELECT 2
        UNION SELECT 3 UNION SELECT 4 UNION SELECT 5
    ) s ON s.players < m.players
    WHERE m.id BETWEEN :first AND :last
) placed JOIN bots ON bots.id = placed.bot
"""
TOTALS_OF_A_DAY: Final = """
INSERT INTO rating_totals (competition_id, players, day, bot_id, games, wins, draws, losses)
SELECT :competition, m.players, :day, p.bot_id, count(*),
    sum(CASE p.rank WHEN 1 THEN 1 ELSE 0 END), 0, sum(CASE p.rank WHEN 1 THEN 0 ELSE 1 END)
FROM matches m JOIN match_participants p ON p.match_id = m.id
WHERE m.id BETWEEN :first AND :last GROUP BY m.players, p.bot_id
"""
SUM_OF_TOTALS: Final = """
INSERT INTO rating_totals (competition_id, players, day, bot_id, games, wins, draws, losses)
SELECT competition_id, {players}, {day}, bot_id, sum(games), sum(wins), 0, sum(losses)
FROM rating_totals WHERE competition_id = :competition AND {where}
GROUP BY competition_id, bot_id, {by}
"""


def write(session: Session, bots: int, matches: int) -> None:
    """Write bots of people, `bot-0`, `bot-1` ..., and their matches, into a hub without matches."""
    connection, now = session.connection(), session.now()
    competition = rated_service.of_game(session, GAME)
    if competition is None:
        raise ValueError("there is no rated competition of the game")
    first = write_bots(connection, competition.id, bots, now)
    days = min(DAYS, matches)
    ends = [matches * day // days for day in range(days + 1)]
    for day, (begin, end) in enumerate(pairwise(ends)):
        at = now - timedelta(days=days - 1 - day, minutes=5)
        write_day(connection, competition.id, (first, bots), (begin + 1, end), at)
    write_sums(connection, competition.id)
    competition.last_seq = competition.revision = matches
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("SELECT setval(pg_get_serial_sequence('matches', 'id'), :last)"), {"last": matches}
        )
        connection.execute(text("ANALYZE"))


def write_bots(connection: Connection, competition: int, bots: int, now: datetime) -> int:
    """Write bots that can play, with their ratings and owners; return the id of the first."""
    owners = range(-(-bots // BOTS_OF_ONE))
    connection.execute(
        insert(User),
        [{"username": f"o{one}", "username_key": f"o{one}", "created_at": now} for one in owners],
    )
    user = connection.scalars(select(func.min(User.id)).where(User.username == OWNER)).one() or 0
    connection.execute(
        insert(Bot),
        [
            {
                "bot_id": f"b_{one:08x}",
                "game": GAME,
                "user_id": user + one // BOTS_OF_ONE,
                "name": f"bot-{one}",
                "name_key": f"bot-{one}",
                "kind": "builtin",
                "endpoint": "random",
                "description": "One of many.",
                "status": "ACTIVE",
                "created_at": now,
            }
            for one in range(bots)
        ],
    )
    first = connection.scalars(select(Bot.id).where(Bot.name == FIRST_NAME)).one()
    connection.execute(
        insert(Rating),
        [
            {
                "competition_id": competition,
                "bot_id": first + one,
                "mu": 1000.0 + (one * 613) % 1000 + one / 1000,
                "phi": 60.0,
                "last_match_at": now - timedelta(seconds=120 + one % 3600),
            }
            for one in range(bots)
        ],
    )
    return first


def write_day(
    connection: Connection,
    competition: int,
    bots: tuple[int, int],
    matches: tuple[int, int],
    at: datetime,
) -> None:
    """Write the matches from one number to another, all of which ended at the same moment."""
    (bot, number), (first, last) = bots, matches
    others = number - 1
    fields = {
        "competition": competition,
        "first": first,
        "last": last,
        "bot": bot,
        "others": others,
        "steps": max(1, others // 6),
        "day": int(at.timestamp()) // DAY,
    }
    moment = bindparam("at", type_=Moment())
    connection.execute(text(MATCHES).bindparams(moment), {**fields, "at": at})
    for statement in (BATTLES, SEATS, TOTALS_OF_A_DAY):
        connection.execute(text(statement), fields)


def write_sums(connection: Connection, competition: int) -> None:
    """Write the totals of all numbers of players, and for ever."""
    for_ever = SUM_OF_TOTALS.format(players="players", day=0, where="players > 0", by="players")
    for_all = SUM_OF_TOTALS.format(players=0, day="day", where="players > 0", by="day")
    for statement in (for_ever, for_all):
        connection.execute(text(statement), {"competition": competition})
