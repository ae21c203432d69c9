"""Bots of a locked account are planned into no new match, and play what was planned."""

from __future__ import annotations

from random import Random

from sqlalchemy import select

from cw_hub.accounts import administration
from cw_hub.competitions.daily import service as daily_service
from cw_hub.operation.resources import Resources
from cw_hub.store.models import MatchParticipant
from hub.tests.competitions.rated.test_rated import Arena
from hub.tests.conftest import StillClock


def players_of(arena: Arena, matches: list[int]) -> set[str]:
    """Return the names of the bots that play in matches."""
    with arena.resources.database.reading() as session:
        its = select(MatchParticipant.name).where(MatchParticipant.match_id.in_(matches))
        return set(session.scalars(its))


def seats_of_a_daily_game(arena: Arena) -> set[str]:
    """Return the names of the bots of people that a daily game would let play now."""
    with arena.resources.database.reading() as session:
        rows = daily_service.entrants(session, "code-battle")
    return {row.seat.name for row in rows} & {"bot-0", "bot-1"}


def test_bots_of_a_locked_account_are_planned_again_once_it_is_unlocked(
    resources: Resources, hub_clock: StillClock
) -> None:
    arena = Arena(resources, hub_clock, house_plays=False)
    arena.add_people(2)
    arena.see_worker(40)
    arena.plan()
    planned = arena.queued()
    assert {"bot-0", "bot-1"} <= players_of(arena, planned)
    with resources.database.writing() as session:
        administration.lock(session, "user0")
    arena.plan()
    assert arena.queued() == planned
    for match in planned:
        arena.end(match, Random(1))
    hub_clock.advance(600)
    arena.plan()
    others = players_of(arena, arena.queued())
    assert "bot-1" in others
    assert "bot-0" not in others
    assert seats_of_a_daily_game(arena) == {"bot-1"}
    with resources.database.writing() as session:
        administration.unlock(session, "user0")
    arena.plan()
    assert "bot-0" in players_of(arena, arena.queued())
    assert seats_of_a_daily_game(arena) == {"bot-0", "bot-1"}
