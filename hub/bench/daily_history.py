"""A long history of daily games, written with bulk inserts: many players in each of many games."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import Connection, Float, cast, func, insert, literal, select

from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.daily.service import GAME
from cw_hub.context import Clock
from cw_hub.store.database import Session
from cw_hub.store.models import Battle, Bot, Friend, Match, MatchParticipant, User

COUNTRIES: Final = (None, *"AU BR CH DE ES FR GB GR IN IT JP KR NL NO PL PT SE TR US ZA".split())
FRIENDS: Final = 20
"""Of the first player."""

TURNS: Final = 120
SCATTER: Final = 7907
"""A prime: multiples of it, cut down to the number of players, are ranks in a scattered order."""


def write(session: Session, players: int, games: int) -> str:
    """Write the games of that many days before now into a hub without any; return the last's name.

    Players are called `player1`, `player2` ... and take part in each game.
    """
    daily_service.begin_site(session)
    competition = competitions_service.named(session, f"{daily_service.FORMAT}/{GAME}").id
    connection = session.connection()
    write_people(connection, session.clock, players)
    names = write_games(connection, session.clock, competition, players, games)
    write_ranks(connection, players)
    return names[-1]


def write_people(connection: Connection, clock: Clock, players: int) -> None:
    """Write players with a bot each; the first one has friends."""
    names = [f"player{number}" for number in range(1, players + 1)]
    now = clock()
    connection.execute(
        insert(User),
        [
            {
                "username": name,
                "username_key": name,
                "country": COUNTRIES[number % len(COUNTRIES)],
                "created_at": now,
            }
            for number, name in enumerate(names)
        ],
    )
    ids = {row.username: row.id for row in connection.execute(select(User.username, User.id))}
    connection.execute(
        insert(Bot),
        [
            {
                "bot_id": f"b_d{ids[name]:07x}",
                "game": GAME,
                "user_id": ids[name],
                "name": name,
                "name_key": name,
                "kind": "builtin",
                "endpoint": "sample",
                "status": "ACTIVE",
                "created_at": now,
            }
            for name in names
        ],
    )
    friends = names[1 : FRIENDS + 1]
    if friends:
        first = {"user_id": ids[names[0]], "created_at": now}
        connection.execute(insert(Friend), [{**first, "friend_id": ids[name]} for name in friends])


def write_games(
    connection: Connection, clock: Clock, competition: int, players: int, games: int
) -> list[str]:
    """Write a game for each day, the last one a day ago; return their names, the first first."""
    moments = [clock() - timedelta(days=back) for back in range(games, 0, -1)]
    rows = [
        {
            "match_id": f"m_{number:08x}",
            "competition_id": competition,
            "kind": daily_service.FORMAT,
            "key": f"{GAME} {at:%Y-%m-%dT%H:%M:%SZ}",
            "game": GAME,
            "players": players,
            "seed": number,
            "state": "done",
            "attempt": 1,
            "turn": TURNS,
            "at": at,
            "started_at": at,
            "finished_at": at,
            "reason": "last_standing",
        }
        for number, at in enumerate(moments, 1)
    ]
    connection.execute(insert(Match), rows)
    battle = select(
        Match.id, literal(1), literal({}, Battle.options.type), literal(0), Match.reason,
        literal({}, Battle.ranks.type), literal({}, Battle.scores.type), Match.turn,
        literal("replays/none.json.gz"), literal(0), Match.at, Match.at,
    ).where(Match.kind == daily_service.FORMAT)  # fmt: skip
    columns = [
        "match_id", "number", "options", "first_slot", "reason", "ranks", "scores", "turns",
        "replay_key", "bytes", "started_at", "ended_at",
    ]  # fmt: skip
    connection.execute(insert(Battle).from_select(columns, battle, include_defaults=False))
    return [str(row["match_id"]) for row in rows]


def write_ranks(connection: Connection, players: int) -> None:
    """Let each player take part in each game, ranked in an order that differs from game to game."""
    slot = Bot.id - select(func.min(Bot.id)).where(Bot.game == GAME).scalar_subquery()
    rank = (slot * SCATTER + Match.id * SCATTER * 3) % players + 1
    nothing = literal([], MatchParticipant.faults.type), literal({}, MatchParticipant.stats.type)
    seat = select(
        Match.id, slot, Bot.id, Bot.name, rank, cast(players - rank, Float), literal(value=False),
        *nothing,
    ).select_from(Match).join(Bot, Bot.game == Match.game).where(
        Match.kind == daily_service.FORMAT
    )  # fmt: skip
    columns = ["match_id", "slot", "bot_id", "name", "rank", "score", "crashed", "faults", "stats"]
    connection.execute(insert(MatchParticipant).from_select(columns, seat, include_defaults=False))
