"""The desk against a model that is told the same things in the same order."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cw.errors import GameStarted, InvalidTeamId, MatchChanged, TeamIdTaken, UnknownTeam
from cw.games.circuit_wars.protocol import status_code
from cw.games.circuit_wars.rules import CircuitWars, State
from cw.server.session import ABSENCE, GITHUB, SHORT, MatchSession, TeamIdForm
from tests.effort import amount
from tests.fixtures import FakeClock
from tests.games.circuit_wars.reference import Reference

CircuitSession = MatchSession[State, str, State]


def open_desk(
    clock: FakeClock, limit: float | None = 3.0, size: int = 3, team_ids: TeamIdForm = SHORT
) -> CircuitSession:
    game = CircuitWars()
    return MatchSession(game, game.new(2, 0, size=size), limit, clock, team_ids)


def code(session: CircuitSession) -> int:
    snapshot = session.look().snapshot
    return status_code(len(snapshot.teams), snapshot.state)


def test_whatever_is_done_is_done_alone(clock: FakeClock) -> None:
    session, states = open_desk(clock), list[bool]()

    def looked_at() -> float:
        states.append(session._lock.locked())
        return clock()

    session._clock = looked_at
    for team_id in ("a", "b"):
        session.register(team_id)
    session.look()
    session.move("a", "0,0,top")
    session.restart()
    assert len(states) >= 5
    assert all(states)


class TestRegistration:
    def test_seats_in_order(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        assert (code(session), session.register("a").player) == (100, 1)
        assert (code(session), session.register("B9").player) == (101, 2)
        assert code(session) == 201

    @pytest.mark.parametrize(
        "team_id", ["", "a" * 11, "a b", "a-b", "é", "１", "a\n", "a/b", "../a", "<b>", "\0"]
    )
    def test_an_invalid_id_is_refused_and_may_be_tried_again(
        self, clock: FakeClock, team_id: str
    ) -> None:
        session = open_desk(clock)
        with pytest.raises(InvalidTeamId, match="1 to 10 letters or digits"):
            session.register(team_id)
        assert session.register("a" * 10).player == 1

    def test_a_taken_id_is_refused_and_may_be_tried_again(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        with pytest.raises(TeamIdTaken):
            session.register("a")
        assert session.register("A").player == 2

    @pytest.mark.parametrize("team_id", ["a", "c"])
    def test_nobody_can_join_a_game_that_has_started(self, clock: FakeClock, team_id: str) -> None:
        session = open_desk(clock)
        session.register("a")
        session.register("b")
        with pytest.raises(GameStarted):
            session.register(team_id)

    def test_nobody_can_join_a_game_that_is_over(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        session.move("a", "0,0,top")
        assert code(session) == 401
        with pytest.raises(GameStarted):
            session.register("b")

    def test_github_names(self, clock: FakeClock) -> None:
        session = open_desk(clock, team_ids=GITHUB)
        assert session.register("a-" + "b" * 37).player == 1
        with pytest.raises(InvalidTeamId, match="39"):
            session.register("b" * 40)


class TestClock:
    def test_it_starts_when_the_second_team_registers(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        clock.advance(ABSENCE)
        assert session.look().time_left is None
        session.register("b")
        assert session.look().time_left == 3.0
        clock.advance(1.25)
        assert session.look().time_left == 1.75

    def test_a_look_after_the_deadline_sees_the_time_out(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        session.register("b")
        clock.advance(3.0)
        assert (code(session), session.look().time_left) == (201, 0.0)
        clock.advance(0.001)
        assert (code(session), session.look().time_left) == (501, None)

    def test_a_late_move_is_not_applied(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        session.register("b")
        session.move("a", "0,0,top")
        clock.advance(3.5)
        observation = session.move("b", "0,0,left")
        assert observation.snapshot.state.ended == "timeout"
        assert observation.snapshot.state.last_move == "0,0,top"
        assert code(session) == 502


class TestVanishedTeams:
    def test_who_asks_keeps_the_seat(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        for _ in range(5):
            clock.advance(ABSENCE)
            session.look(as_client=True)
        assert session.register("b").player == 2

    def test_who_does_not_ask_gives_it_back_whoever_looks_on(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        before = session.look().snapshot.tag
        clock.advance(ABSENCE)
        assert code(session) == 101
        clock.advance(0.001)
        assert code(session) == 100
        assert session.look().snapshot.tag != before

    def test_the_next_one_plays_against_somebody_who_is_there(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        clock.advance(ABSENCE + 1)
        assert session.register("b").player == 1
        assert session.register("a").player == 2

    def test_who_comes_back_too_late_is_unknown(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        clock.advance(ABSENCE + 1)
        with pytest.raises(UnknownTeam, match="register it first"):
            session.move("a", "0,0,top")
        assert session.look(as_client=True).snapshot.teams == ()

    def test_a_game_that_has_begun_keeps_both(self, clock: FakeClock) -> None:
        session = open_desk(clock, limit=10 * ABSENCE)
        session.register("a")
        session.register("b")
        clock.advance(5 * ABSENCE)
        assert code(session) == 201

    def test_a_game_that_is_over_before_its_start_stays_to_be_seen(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        session.move("a", "0,0,top")
        clock.advance(5 * ABSENCE)
        assert code(session) == 401

    def test_without_a_time_limit_nobody_is_late(self, clock: FakeClock) -> None:
        session = open_desk(clock, limit=None)
        session.register("a")
        clock.advance(100 * ABSENCE)
        assert session.register("b").player == 2

    def test_who_starts_again_is_told_when_the_name_is_free(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        with pytest.raises(TeamIdTaken, match=f"free after {ABSENCE:g} s"):
            session.register("a")


class TestTags:
    def test_only_a_change_gives_a_new_tag(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        tags = [session.look().snapshot.tag]
        for change in (
            lambda: session.register("a"),
            lambda: session.register("b"),
            lambda: session.move("a", "0,0,top"),
            lambda: clock.advance(3.1),
            session.restart,
        ):
            change()
            tags.append(session.look().snapshot.tag)
            clock.advance(0.5 if session.look().time_left else 0)
            assert session.look().snapshot.tag == tags[-1]
        assert len(set(tags)) == 6

    def test_what_changes_nothing_gives_no_new_tag(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        tag = session.look().snapshot.tag
        with pytest.raises(UnknownTeam):
            session.move("nobody", "0,0,top")
        with pytest.raises(TeamIdTaken):
            session.register("a")
        assert session.look().snapshot.tag == tag

    def test_two_desks_never_share_a_tag(self, clock: FakeClock) -> None:
        assert open_desk(clock).look().snapshot.tag != open_desk(clock).look().snapshot.tag


class TestRestart:
    def test_what_was_seen_is_forgotten_and_once_only(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        seen = session.move("a", "0,0,top").snapshot
        assert session.restart(seen.tag).snapshot.teams == ()
        session.register("b")
        with pytest.raises(MatchChanged, match="Register, or look again"):
            session.restart(seen.tag)
        assert session.look().snapshot.teams == ("b",)

    def test_a_team_gives_back_its_own_seat_alone(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        place = session.register("a")
        session.restart()
        other = session.register("b")
        with pytest.raises(MatchChanged):
            session.restart(place.tag)
        assert session.restart(other.tag).snapshot.teams == ()

    def test_a_team_that_has_an_opponent_cannot_take_the_match_away(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        place = session.register("a")
        assert session.look().snapshot.tag == place.tag
        second = session.register("b")
        assert session.look().snapshot.tag == second.tag
        with pytest.raises(MatchChanged):
            session.restart(place.tag)
        assert code(session) == 201

    def test_a_time_out_that_nobody_has_seen_is_a_change(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        seen = session.register("b").tag
        clock.advance(3.1)
        with pytest.raises(MatchChanged):
            session.restart(seen)
        assert code(session) == 501

    def test_so_is_a_team_that_has_vanished(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        seen = session.register("a").tag
        clock.advance(ABSENCE + 1)
        with pytest.raises(MatchChanged):
            session.restart(seen)
        assert code(session) == 100

    def test_of_twenty_who_have_seen_the_same_end_one_restarts(self, clock: FakeClock) -> None:
        session = open_desk(clock)
        session.register("a")
        seen = session.move("a", "0,0,top").snapshot.tag
        start = threading.Barrier(20)

        def restart() -> bool:
            start.wait()
            try:
                session.restart(seen)
            except MatchChanged:
                return False
            return True

        with ThreadPoolExecutor(20) as threads:
            done = [job.result() for job in [threads.submit(restart) for _ in range(20)]]
        assert sum(done) == 1


class TestThreads:
    def test_twenty_equal_moves_are_one_move_and_one_out_of_turn(self, clock: FakeClock) -> None:
        for _ in range(20):
            session = open_desk(clock)
            session.register("a")
            session.register("b")
            start = threading.Barrier(20)

            def move(session: CircuitSession = session, start: threading.Barrier = start) -> State:
                start.wait()
                return session.move("a", "0,0,top").snapshot.state

            with ThreadPoolExecutor(20) as threads:
                states = [job.result() for job in [threads.submit(move) for _ in range(20)]]
            assert sum(state.ended is None for state in states) == 1
            assert sum(state.ended == "illegal" for state in states) == 19
            assert len(session.look().snapshot.turns) == 2


class DeskAndClock(RuleBasedStateMachine):
    """Registrations, moves, restarts and the clock in any order, beside a plain model."""

    TEAMS = ("a", "b", "c")

    @initialize()
    def open(self) -> None:
        self.clock = FakeClock()
        self.session = open_desk(self.clock)
        self.match = 0
        self.forget()
        self.look()

    def forget(self) -> None:
        self.match += 1
        self.teams: list[str] = []
        self.board = Reference(3)
        self.player = 1
        self.ended: int | None = None
        self.began = 0.0
        self.heard = 0.0

    def time_out(self) -> None:
        if len(self.teams) == 1 and not self.ended and self.clock() > self.heard + ABSENCE:
            self.forget()
        running = len(self.teams) == 2 and self.ended is None
        if running and self.clock() > self.began + 3.0:
            self.ended = 500 + self.player

    @rule(team=st.sampled_from(TEAMS))
    def register(self, team: str) -> None:
        self.time_out()
        if len(self.teams) == 2 or self.ended:
            with pytest.raises(GameStarted):
                self.session.register(team)
        elif team in self.teams:
            with pytest.raises(TeamIdTaken):
                self.session.register(team)
        else:
            self.teams.append(team)
            assert self.session.register(team).player == len(self.teams)
            self.began = self.heard = self.clock()

    @rule(
        seat=st.integers(0, 1), seed=st.integers(0, 10**6), wrong=st.sampled_from([""] * 9 + ["x"])
    )
    def move(self, seat: int, seed: int, wrong: str) -> None:
        self.time_out()
        if seat >= len(self.teams):
            return
        move = random.Random(seed).choice(self.board.free() or ["0,0,top"]) + wrong
        self.session.move(self.teams[seat], move)
        if self.ended:
            return
        if len(self.teams) < 2 or seat + 1 != self.player or wrong:
            self.ended = 400 + seat + 1
            return
        self.board.draw(move, self.player)
        self.player, self.began = 3 - self.player, self.clock()
        if not self.board.free():
            one, two = self.board.scores()
            self.ended = 301 if one > two else 302

    @precondition(lambda self: len(self.teams) == 2 and self.ended is None)
    @rule(seed=st.integers(0, 10**6))
    def play_on(self, seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(6):
            self.move(self.player - 1, rng.randrange(10**6), "")

    @rule(team=st.sampled_from(["", "d", "zz"]))
    def stranger(self, team: str) -> None:
        with pytest.raises(UnknownTeam):
            self.session.move(team, "0,0,top")

    @rule()
    def ask(self) -> None:
        self.time_out()
        self.heard = self.clock()
        self.session.look(as_client=True)

    @rule(seconds=st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 3.5, ABSENCE]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule()
    def restart(self) -> None:
        self.session.restart()
        self.forget()

    @rule()
    def look(self) -> None:
        self.time_out()
        self.seen = (self.session.look().snapshot.tag, self.everything())

    @rule()
    def restart_what_was_seen(self) -> None:
        self.time_out()
        tag, everything = self.seen
        if everything == self.everything():
            self.session.restart(tag)
            self.forget()
        else:
            with pytest.raises(MatchChanged):
                self.session.restart(tag)

    def everything(self) -> tuple[object, ...]:
        """Return what a client can see, and the number of the match."""
        return self.match, tuple(self.teams), self.ended, str(self.board.board())

    @invariant()
    def agrees(self) -> None:
        self.time_out()
        snapshot, time_left = self.session.look()
        waiting = 100 + len(self.teams)
        expected = self.ended or (waiting if len(self.teams) < 2 else 200 + self.player)
        assert status_code(len(snapshot.teams), snapshot.state) == expected
        assert snapshot.teams == tuple(self.teams)
        assert [list(row) for row in snapshot.state.board] == self.board.board()
        running = len(self.teams) == 2 and not self.ended
        assert time_left == (self.began + 3.0 - self.clock() if running else None)


TestDeskAndClock = DeskAndClock.TestCase
TestDeskAndClock.settings = settings(
    max_examples=amount(40, 150), stateful_step_count=40, deadline=None
)
