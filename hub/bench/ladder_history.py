"""A tournament whose group has many teams, bulk-inserted: closed rounds, and an open one."""

from __future__ import annotations

from typing import Final

from sqlalchemy import func, insert, select, update

from cw_hub.store.database import Session
from cw_hub.store.models import (
    Bot,
    Competition,
    Entry,
    Event,
    Group,
    Match,
    MatchParticipant,
    Round,
    RoundScore,
    Team,
)

GAME: Final = "end-of-codes"
"""All teams of a group play in one match of it."""

SLUG: Final = "many"
GROUP: Final = "main"
MATCH: Final = "m_ffffffff"
ROUNDS: Final = 20
BOARD: Final = {"name": "M 15", "options": {"M": 15}, "factor": 1}

SCATTER: Final = 7907
"""A prime: multiples of it, cut down to the number of teams, are points in a scattered order."""


def write(session: Session, teams: int) -> None:
    """Write a tournament with so many teams in its only group; without two nothing is played."""
    now = session.now()
    tournament = Competition(
        slug=SLUG,
        game=GAME,
        format="tournament",
        title="Many teams",
        seed=1,
        state="running",
        settings={},
        created_at=now,
    )
    session.add(tournament)
    session.flush()
    group = Group(competition_id=tournament.id, slug=GROUP, name="MAIN", kind="public")
    begun = Event(
        competition_id=tournament.id, at=now, applied_at=now, kind="start", title="Start", text=""
    )
    session.add_all([group, begun])
    session.flush()
    ids = write_teams(session, tournament.id, group.id, teams)
    if len(ids) > 1:
        last = write_rounds(session, group.id, ids)
        write_match(session, tournament.id, last, ids)


def write_teams(session: Session, competition: int, group: int, number: int) -> list[int]:
    """Write teams, each with a bot, into a group; return their ids."""
    now = session.now()
    names = [f"Team {one}" for one in range(1, number + 1)]
    session.execute(
        insert(Team),
        [
            {
                "competition_id": competition,
                "slug": name.lower().replace(" ", "-"),
                "name": name,
                "name_key": name.lower(),
            }
            for name in names
        ],
    )
    ids = list(session.scalars(select(Team.id).where(Team.competition_id == competition)))
    session.execute(
        insert(Entry), [{"group_id": group, "team_id": team, "joined_at": now} for team in ids]
    )
    session.execute(
        insert(Bot),
        [
            {
                "bot_id": f"b_e{team:07x}",
                "game": GAME,
                "team_id": team,
                "name": f"team-{team}",
                "name_key": f"team-{team}",
                "kind": "builtin",
                "endpoint": "sample",
                "status": "ACTIVE",
                "created_at": now,
            }
            for team in ids
        ],
    )
    return ids


def write_rounds(session: Session, group: int, ids: list[int]) -> int:
    """Write rounds that are closed, and an open one; return the id of that."""
    now, positions = session.now(), {str(team): place for place, team in enumerate(ids, 1)}
    for number in range(1, ROUNDS + 2):
        one = Round(
            group_id=group,
            number=number,
            board=BOARD,
            seed=number,
            positions=positions,
            opened_at=now,
            closed_at=now if number <= ROUNDS else None,
        )
        session.add(one)
        session.flush()
        if number <= ROUNDS:
            write_scores(session, one, ids)
    return one.id


def write_scores(session: Session, of: Round, ids: list[int]) -> None:
    """Write what teams have made of a round."""
    number, teams = of.number, len(ids)
    session.execute(
        insert(RoundScore),
        [
            {
                "round_id": of.id,
                "team_id": team,
                "points": index * SCATTER * number % teams,
                "total": index * SCATTER % teams * number,
                "position": 1,
                "won": 0,
                "drawn": 0,
                "lost": 0,
                "battles_diff": 0,
                "score_diff": 0,
            }
            for index, team in enumerate(ids, 1)
        ],
    )


def write_match(session: Session, competition: int, of: int, ids: list[int]) -> None:
    """Write the match of the open round, which waits."""
    match = Match(
        match_id=MATCH,
        competition_id=competition,
        kind="tournament",
        key=f"{of}/1",
        game=GAME,
        players=len(ids),
        options={},
        seed=1,
        round_id=of,
        sequence=1,
        state="queued",
        at=session.now(),
    )
    session.add(match)
    session.flush()
    bots = select(Bot.id, Bot.name).where(Bot.team_id.in_(ids)).order_by(Bot.id)
    session.execute(
        insert(MatchParticipant),
        [
            {"match_id": match.id, "slot": slot, "bot_id": bot.id, "name": bot.name}
            for slot, bot in enumerate(session.execute(bots).all())
        ],
    )


def give_a_point(session: Session) -> None:
    """Change the table of the group: one of its teams has a point more."""
    newest = select(func.max(RoundScore.round_id)).scalar_subquery()
    first = select(func.min(RoundScore.team_id)).scalar_subquery()
    its = (RoundScore.round_id == newest, RoundScore.team_id == first)
    session.execute(update(RoundScore).where(*its).values(points=RoundScore.points + 1))
    session.execute(update(Group).values(revision=Group.revision + 1))
