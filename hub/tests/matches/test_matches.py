"""The life of a match: each verb called once, twice, late, and by several at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sqlalchemy import func, select

from cw_hub.matches import planning, results
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.results import BattleResult, Claim
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import SlotResult
from cw_hub.store.database import Database, Session
from cw_hub.store.migrations import upgrade
from cw_hub.store.models import Battle, Bot, Match, MatchParticipant, User
from cw_hub.store.sealing import Sealed
from hub.tests.conftest import StillClock
from tests.effort import amount

T = TypeVar("T")
LEASE = timedelta(seconds=600)
SEATS = (Seat("ann", spec="builtin:random"), Seat("bob", spec="builtin:greedy"))


def battle(turns: int = 7) -> BattleResult:
    slots = (
        SlotResult(1, 12.5, [{"turn": 2, "player": 0, "kind": "timeout", "detail": "late"}]),
        SlotResult(2, 3.0),
    )
    then = datetime(2026, 11, 20, tzinfo=UTC)
    return BattleResult("all_dead", slots, turns, "replays/x.json.gz", 99, then, then)


class Hub:
    """The verbs, each in a transaction of its own."""

    def __init__(self, database: Database, clock: StillClock) -> None:
        self.database = database
        self.clock = clock

    def do(self, verb: Callable[[Session], T]) -> T:
        with self.database.writing() as session:
            return verb(session)

    def plan(self, key: str = "k", game: str = "hexagon") -> int:
        wanted = Plan("practice", key, game, SEATS)
        return self.do(lambda session: planning.plan(session, wanted))

    def claim(self, match: int, worker: str = "w") -> Claim | None:
        return self.do(lambda session: results.claim(session, match, worker, LEASE))

    def claimed(self, match: int, worker: str = "w") -> Claim:
        claim = self.claim(match, worker)
        assert claim is not None
        return claim

    def finish(self, claim: Claim) -> results.Finish:
        return self.do(lambda session: results.finish(session, claim, [battle()]))

    def progress(self, claim: Claim, turn: int = 1) -> bool:
        return self.do(lambda s: results.progress(s, claim, turn, LEASE))

    def interrupt(self, claim: Claim) -> bool:
        return self.do(lambda session: results.interrupt(session, claim, "stopped"))

    def trouble(self, claim: Claim) -> bool:
        return self.do(lambda session: results.trouble(session, claim, "KeyError"))

    def reap(self) -> int:
        return self.do(results.reap)

    def requeue(self) -> int:
        return self.do(results.requeue)

    def sent(self) -> list[int]:
        return [one.id for one in self.do(planning.to_send)]

    def row(self, match: int) -> Match:
        with self.database.reading() as session:
            return session.scalars(select(Match).where(Match.id == match)).one()


@pytest.fixture
def hub(database: Database, hub_clock: StillClock) -> Hub:
    return Hub(database, hub_clock)


def at_once(do: Callable[[int], T], times: int = 8) -> list[T]:
    with ThreadPoolExecutor(times) as threads:
        return list(threads.map(do, range(times)))


def test_planning_the_same_twice_makes_one_match(hub: Hub) -> None:
    assert len(set(at_once(lambda _: hub.plan("k")))) == 1
    assert hub.plan("other") != hub.plan("k")
    with hub.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Match)) == 2
        assert session.scalar(select(func.count()).select_from(MatchParticipant)) == 4


def test_a_plan_is_a_queued_match_with_its_seats(hub: Hub) -> None:
    row = hub.row(hub.plan())
    assert (row.state, row.attempt, row.players, row.at) == ("queued", 0, 2, hub.clock.now)
    assert len(row.match_id) == 10
    assert 0 <= hub.row(hub.plan("paint", "paint")).seed < 2**31


def test_a_message_is_sent_once_and_again_after_five_minutes(hub: Hub) -> None:
    ids = [hub.plan(str(number)) for number in range(3)]
    batches = at_once(lambda _: hub.sent(), 4)
    assert sorted(one for some in batches for one in some) == ids
    hub.clock.advance(299)
    assert hub.sent() == []
    hub.clock.advance(1)
    hub.claimed(ids[0])
    assert hub.sent() == ids[1:]
    hub.do(planning.forget_messages)
    assert hub.sent() == ids[1:]


def test_one_of_many_claims_a_match(hub: Hub) -> None:
    match = hub.plan()
    claims = at_once(lambda number: hub.claim(match, f"w{number}"))
    (won,) = (claim for claim in claims if claim is not None)
    assert (won.attempt, won.game, [seat.name for seat in won.seats]) == (
        1,
        "hexagon",
        ["ann", "bob"],
    )
    assert won.seats[1].spec == won.seats[1].public == "builtin:greedy"
    row = hub.row(match)
    assert row.state == "in_progress"
    assert row.lease_until == hub.clock.now + LEASE


def test_a_claim_reads_bots_as_they_are_then(hub: Hub, resources: Resources) -> None:
    def add(session: Session) -> int:
        ann = User(username="ann", created_at=hub.clock())
        session.add(ann)
        session.flush()
        secret = resources.sealer.seal(b"hush", "b_00000001.1")
        bot = Bot(
            bot_id="b_00000001",
            game="hexagon",
            user_id=ann.id,
            name="swarm",
            name_key="swarm",
            kind="url",
            endpoint="http://127.0.0.1:9/",
            settings={"form": "json"},
            secret=secret.data,
            key_id=secret.key_id,
            secret_version=1,
            created_at=hub.clock(),
        )
        session.add(bot)
        session.flush()
        return bot.id

    bot = hub.do(add)
    seats = (Seat("swarm", bot_id=bot), SEATS[1])
    match = hub.do(lambda s: planning.plan(s, Plan("practice", "k", "hexagon", seats)))
    hub.do(lambda s: s.get_one(Bot, bot).__setattr__("endpoint", "http://127.0.0.1:10"))
    seat = hub.claimed(match).seats[0]
    assert (seat.spec, seat.public) == ("http://127.0.0.1:10", "b_00000001")
    assert seat.settings == {"form": "json"}
    assert seat.secret is not None
    assert resources.sealer.open(Sealed(*seat.secret), seat.secret_row) == b"hush"


def test_one_result_counts_and_all_of_it(hub: Hub) -> None:
    match = hub.plan()
    claim = hub.claimed(match)
    outcomes = at_once(lambda _: hub.finish(claim))
    assert sorted(outcomes) == ["already"] * 7 + ["done"]
    row = hub.row(match)
    assert (row.state, row.reason, row.turn) == ("done", "all_dead", 7)
    assert (row.worker, row.lease_until, row.finished_at) == (None, None, hub.clock.now)
    with hub.database.reading() as session:
        (played,) = session.scalars(select(Battle)).all()
        assert (played.number, played.ranks, played.scores, played.bytes) == (
            1,
            [1, 2],
            [12.5, 3],
            99,
        )
        ann, bob = session.scalars(select(MatchParticipant).order_by(MatchParticipant.slot))
        assert (ann.rank, ann.score, bob.rank, bob.faults) == (1, 12.5, 2, [])
        assert ann.faults[0]["kind"] == "timeout"
        assert not ann.crashed


def test_who_lost_the_match_writes_nothing(hub: Hub) -> None:
    match = hub.plan()
    late = hub.claimed(match)
    hub.clock.advance(601)
    assert (hub.reap(), hub.reap(), hub.requeue(), hub.requeue()) == (1, 0, 1, 0)
    assert hub.sent() == [match]
    again = hub.claimed(match, "other")
    assert again.attempt == 2
    assert not hub.progress(late)
    assert not hub.interrupt(late)
    assert not hub.trouble(late)
    assert hub.finish(late) == "lost"
    assert hub.finish(again) == "done"
    assert hub.finish(late) == "lost"
    assert hub.row(match).troubles == 1


def test_progress_renews_the_lease(hub: Hub) -> None:
    match = hub.plan()
    claim = hub.claimed(match)
    for turn in range(3):
        hub.clock.advance(599)
        assert hub.progress(claim, turn)
        assert hub.reap() == 0
    assert hub.row(match).turn == 2
    hub.finish(claim)
    assert not hub.progress(claim)


def test_an_interruption_is_no_trouble(hub: Hub) -> None:
    match = hub.plan()
    for attempt in range(1, 20):
        claim = hub.claimed(match)
        assert claim.attempt == attempt
        assert hub.interrupt(claim)
        assert not hub.interrupt(claim)
        assert hub.row(match).state == "interrupted"
        assert hub.claim(match) is None
        assert hub.requeue() == 1
    assert hub.row(match).troubles == 0


def test_a_worker_gives_back_its_own_matches_alone(hub: Hub) -> None:
    mine, other = hub.plan("a"), hub.plan("b")
    hub.claimed(mine, "me")
    hub.claimed(other, "you")
    assert hub.do(lambda s: results.interrupt_all_of(s, "me", "stopped")) == 1
    assert hub.do(lambda s: results.interrupt_all_of(s, "me", "stopped")) == 0
    assert (hub.row(mine).state, hub.row(other).state) == ("interrupted", "in_progress")


def test_five_troubles_are_too_many(hub: Hub) -> None:
    match = hub.plan()
    for number in range(5):
        claim = hub.claimed(match)
        if number % 2:
            hub.clock.advance(601)
            assert hub.reap() == 1
        else:
            assert hub.trouble(claim)
            assert not hub.trouble(claim)
        assert hub.row(match).troubles == number + 1
        assert hub.requeue() == (number < 4)
    row = hub.row(match)
    assert (row.state, row.reason) == ("failed", "KeyError")
    assert hub.sent() == []
    name = row.match_id
    assert hub.do(lambda s: results.requeue_failed(s, name))
    assert not hub.do(lambda s: results.requeue_failed(s, name))
    assert hub.claimed(match).attempt == 6


def test_a_match_is_called_off_before_it_begins_and_not_after(hub: Hub) -> None:
    waiting, playing = hub.row(hub.plan("a")), hub.row(hub.plan("b"))
    hub.claimed(playing.id)

    def void(name: str) -> bool:
        return hub.do(lambda s: results.void(s, name, "a bot is no longer active"))

    assert void(waiting.match_id)
    assert not void(waiting.match_id)
    assert not void(playing.match_id)
    assert hub.claim(waiting.id) is None
    assert hub.row(waiting.id).reason == "a bot is no longer active"
    with hub.database.reading() as session:
        assert results.counts(session) == {"void": 1, "in_progress": 1}


@cache
def migrated() -> bytes:
    """Return a SQLite database with all tables and no rows: to copy it is far quicker."""
    with closing(Database("sqlite://")) as database:
        upgrade(database)
        return connection_of(database).serialize()


def connection_of(database: Database) -> sqlite3.Connection:
    """Return the one connection of a SQLite database in memory."""
    with database.engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        return driver


class Lives(RuleBasedStateMachine):
    """Any verb at any time: a match is done once, and what is done stays so."""

    def __init__(self) -> None:
        super().__init__()
        database = Database("sqlite://")
        connection_of(database).deserialize(migrated())
        self.hub = Hub(database, StillClock())
        self.ids = [self.hub.plan(str(number)) for number in range(2)]
        self.claims: list[Claim] = []
        self.done: dict[int, int] = {}

    which = st.integers(0, 1)
    claim_of = st.integers(0, 30)

    @rule(which=which)
    def claim(self, which: int) -> None:
        claim = self.hub.claim(self.ids[which])
        if claim is not None:
            assert claim.id not in self.done
            self.claims.append(claim)

    @rule(which=claim_of, verb=st.sampled_from(["progress", "interrupt", "trouble"]))
    def old_or_new(self, which: int, verb: str) -> None:
        if self.claims:
            claim = self.claims[which % len(self.claims)]
            if getattr(self.hub, verb)(claim):
                assert claim.id not in self.done

    @rule(which=claim_of)
    def finish(self, which: int) -> None:
        if self.claims:
            claim = self.claims[which % len(self.claims)]
            result = self.hub.finish(claim)
            if result == "done":
                assert claim.id not in self.done
                self.done[claim.id] = claim.attempt
            assert (result == "lost") == (self.done.get(claim.id) != claim.attempt)

    @rule(seconds=st.sampled_from([1, 300, 601]))
    def tick(self, seconds: int) -> None:
        self.hub.clock.advance(seconds)
        self.hub.reap()
        self.hub.requeue()
        self.hub.sent()

    @invariant()
    def rows_say_so(self) -> None:
        for one in self.ids:
            row = self.hub.row(one)
            assert (row.state == "done") == (one in self.done)
            assert (row.state == "in_progress") == (row.lease_until is not None)
            assert row.troubles <= 5
        with self.hub.database.reading() as session:
            assert session.scalar(select(func.count()).select_from(Battle)) == len(self.done)

    def teardown(self) -> None:
        self.hub.database.close()


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=amount(10, 40), stateful_step_count=30, deadline=None)


def test_the_seed_may_be_given(hub: Hub) -> None:
    wanted = replace(Plan("practice", "k", "hexagon", SEATS), seed=2**62)
    match = hub.do(lambda session: planning.plan(session, wanted))
    assert hub.row(match).seed == 2**62
