"""Planned matches that the owner of a bot makes impossible: they are played all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from sqlalchemy import delete, select, update

from cw.league.matchmaking import CRASH_REST, CRASHES
from cw_hub.bots import health
from cw_hub.bots import service as bots_service
from cw_hub.bots.addresses import ClaimedSeat
from cw_hub.competitions.rated import service as rated_service
from cw_hub.matches import results
from cw_hub.matches.jobs import Worker
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Map, Match, MatchParticipant, Rating, User
from hub.tests.competitions.rated.test_rated import LEASE, Arena
from hub.tests.conftest import StillClock

T = TypeVar("T")

FIRST = "http://127.0.0.1:9"
SECOND = "http://127.0.0.1:9/second"
MAP = "m2_001"
SILENT = {"step": "connect", "ok": False, "problem": "127.0.0.1:9 refuses connections.", "fix": ""}


class Owner:
    """A user with a bot that takes part, though nobody answers at its address."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        user = self.do(self.join)
        new, sealer = bots_service.NewBot("code-battle", "Swarm", FIRST), arena.resources.sealer
        self.bot = self.do(lambda s: bots_service.register(s, sealer, user, new)).id
        self.do(lambda s: rated_service.enter(s, self.bot))
        self.heal()

    def do(self, verb: Callable[[Session], T]) -> T:
        """Do something in a transaction of its own."""
        with self.arena.resources.database.writing() as session:
            return verb(session)

    def join(self, session: Session) -> int:
        user = User(username="ann", username_key="ann", created_at=self.arena.clock())
        session.add(user)
        session.flush()
        return user.id

    def change(self, **values: Any) -> None:
        self.do(lambda s: s.execute(update(Bot).where(Bot.id == self.bot).values(values)))

    def heal(self) -> None:
        """Make the bot what it is after a check that it has passed."""
        self.change(status="ACTIVE", healthy_at=self.arena.clock(), protocol_ok=True, failures=0)

    def edit(self, endpoint: str) -> None:
        view = self.do(lambda s: bots_service.find(s, "code-battle", "Swarm"))
        assert view is not None
        self.do(lambda s: bots_service.edit(s, view, endpoint, ""))

    def fail_check(self) -> None:
        target = self.do(lambda s: health.check_target(s, self.bot))
        assert target is not None
        assert self.do(lambda s: health.note_check(s, target, [SILENT]))

    def move_and_fail(self) -> None:
        self.edit(SECOND)
        self.fail_check()

    def fail_health(self) -> None:
        for _ in range(health.MOST_FAILURES):
            self.fail_check()

    def retire(self) -> None:
        assert self.do(lambda s: bots_service.retire(s, self.bot))

    def planned(self) -> int:
        """Let a match of the bot be planned; return its id."""
        self.arena.plan()
        match = self.do(lambda s: s.scalar(select(Rating.playing_id).where(self.rating)))
        assert match is not None
        return match

    def play(self, match: int) -> None:
        Worker("me", 1, MATCH_TYPES).play(self.arena.resources, match)

    def seat(self, match: int) -> ClaimedSeat:
        """Return the seat of the bot in a match, as a worker finds it."""
        seats = self.do(lambda s: results.claimed_seats(s, match))
        return next(seat for seat in seats if seat.name == "Swarm")

    def row(self, match: int) -> Match:
        return self.do(lambda s: s.get_one(Match, match))

    @property
    def rating(self) -> Any:
        return Rating.bot_id == self.bot

    def standing(self) -> Rating:
        return self.do(lambda s: s.scalars(select(Rating).where(self.rating)).one())


@pytest.fixture
def ann(resources: Resources, hub_clock: StillClock) -> Owner:
    """A bot whose only opponent gathers energy, in short matches for two.

    All on one map: on others nothing is in reach within so few turns, and a match is a draw.
    """
    options = {"max_turns": 40}
    owner = Owner(Arena(resources, hub_clock, house_plays=False, formats=[2], options=options))
    others = update(Bot).where(Bot.name.not_in(("Swarm", "GathererBot"))).values(status="INACTIVE")
    owner.do(lambda s: s.execute(others))
    owner.do(lambda s: s.execute(delete(Map).where(Map.map_id != MAP)))
    return owner


WAYS_OUT = {
    "moves and fails the check": Owner.move_and_fail,
    "fails three checks": Owner.fail_health,
    "retires": Owner.retire,
}


@pytest.mark.parametrize("way", WAYS_OUT.values(), ids=WAYS_OUT)
def test_a_bot_loses_the_match_that_its_owner_makes_impossible(
    ann: Owner, way: Callable[[Owner], None]
) -> None:
    match = ann.planned()
    way(ann)
    for _ in range(3):
        ann.arena.plan()
    assert ann.row(match).state == "queued"
    ann.play(match)
    row, standing = ann.row(match), ann.standing()
    assert (row.state, row.seq) == ("done", 1)
    assert standing.mu < 1500
    assert standing.crash_streak == 1
    assert standing.playing_id is None
    assert ann.arena.differences() == []


def test_a_planned_match_is_played_at_the_address_that_the_bot_had(ann: Owner) -> None:
    match = ann.planned()
    ann.edit(SECOND)
    ann.heal()
    ann.edit(f"{SECOND}/and/third")
    assert ann.seat(match).spec == FIRST
    lease = ann.do(lambda s: results.claim(s, match, "gone", LEASE))
    assert lease is not None
    ann.do(lambda s: results.interrupt(s, lease, "its worker was stopped"))
    ann.do(results.requeue)
    assert ann.seat(match).spec == FIRST
    ann.play(match)
    with_endpoints = select(MatchParticipant).where(MatchParticipant.endpoint.is_not(None))
    assert ann.do(lambda s: s.scalars(with_endpoints).all()) == []
    ann.heal()
    ann.arena.clock.advance(3600)
    ann.heal()
    assert ann.seat(ann.planned()).spec == f"{SECOND}/and/third"


def test_who_retires_a_bot_leaves_no_address_behind(ann: Owner) -> None:
    match = ann.planned()
    ann.edit(SECOND)
    ann.retire()
    assert ann.seat(match).spec == ""
    with_endpoints = select(MatchParticipant).where(MatchParticipant.endpoint.is_not(None))
    assert ann.do(lambda s: s.scalars(with_endpoints).all()) == []


def test_a_bot_that_was_lost_three_times_on_purpose_rests(ann: Owner) -> None:
    for _ in range(CRASHES):
        match = ann.planned()
        ann.move_and_fail()
        ann.play(match)
        ann.arena.clock.advance(60)
        ann.edit(FIRST)
        ann.heal()
    ann.arena.plan()
    assert ann.standing().playing_id is None
    ann.arena.clock.advance(CRASH_REST)
    ann.heal()
    ann.planned()
    assert ann.arena.differences() == []


def test_a_suspension_by_the_site_costs_nobody_a_match(ann: Owner) -> None:
    match = ann.planned()
    bot_id = ann.do(lambda s: s.get_one(Bot, ann.bot)).bot_id
    ann.do(lambda s: bots_service.suspend(s, bot_id, "floods us"))
    ann.arena.plan()
    assert ann.row(match).state == "void"
    assert ann.standing().mu == 1500
