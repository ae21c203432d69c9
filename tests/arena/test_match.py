"""The match: who owes an action, until when, and what is handed to the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from cw.arena.referee import Match
from cw.errors import IllegalAction
from cw.games.circuit_wars.rules import CircuitWars, State
from cw.games.rules import Fault, Outcome, Player


def circuit_wars(limit: float | None = 3.0) -> Match[State, str, State]:
    game = CircuitWars()
    return Match(game, game.new(2, 0, size=1), limit, began=100.0)


class TestOneAtATime:
    def test_the_mover_owes_an_action_until_the_limit(self) -> None:
        match = circuit_wars()
        assert (match.waiting, match.deadline) == ((1,), 103.0)
        match.submit(1, "0,0,top", 102.0)
        assert (match.waiting, match.deadline) == ((2,), 105.0)

    def test_an_action_at_the_deadline_is_in_time(self) -> None:
        match = circuit_wars()
        match.submit(1, "0,0,top", 103.0)
        assert match.state.last_move == "0,0,top"

    def test_an_action_after_the_deadline_is_not_applied(self) -> None:
        match = circuit_wars()
        match.submit(1, "0,0,top", 103.001)
        assert (match.state.ended, match.state.winner) == ("timeout", 2)
        assert match.state.last_move == ""
        assert match.deadline is None

    def test_the_clock_decides_whoever_asks(self) -> None:
        match = circuit_wars()
        match.expire(103.0)
        assert match.outcome is None
        match.expire(200.0)
        assert match.outcome is not None
        assert match.turns[-1].actions == {1: Fault("timeout", "no action within 3 s")}
        assert match.turns[-1].seconds == {1: 3.0}

    def test_without_a_limit_nobody_is_late(self) -> None:
        match = circuit_wars(limit=None)
        assert match.deadline is None
        match.submit(1, "0,0,top", 1e9)
        assert match.state.last_move == "0,0,top"

    def test_an_illegal_action_is_a_fault_with_a_reason(self) -> None:
        match = circuit_wars()
        match.submit(1, "9,9,top", 101.0)
        assert match.turns[-1].actions[1] == Fault(
            "illegal", "9,9,top is off the board: x and y go from 0 to 0"
        )
        assert match.state.ended == "illegal"

    def test_an_action_out_of_turn_goes_to_the_rules_at_once(self) -> None:
        match = circuit_wars()
        match.submit(2, "0,0,top", 101.0)
        assert (match.state.ended, match.state.winner) == ("illegal", 1)

    def test_a_late_fault_is_the_other_players_time_out(self) -> None:
        match = circuit_wars()
        match.fault(2, Fault("crashed"), 104.0)
        assert (match.state.ended, match.state.winner) == ("timeout", 2)

    def test_nothing_happens_after_the_end(self) -> None:
        match = circuit_wars()
        for time, move in enumerate(("0,0,top", "0,0,left", "0,0,right", "0,0,bottom")):
            match.submit(1 + time % 2, move, 100.0 + time)
        end, turns = match.state, list(match.turns)
        match.submit(1, "0,0,top", 105.0)
        match.fault(2, Fault("crashed"), 105.0)
        match.expire(1e9)
        assert (match.state, match.turns) == (end, turns)
        assert [turn.seconds for turn in turns] == [{1: 0.0}, {2: 1.0}, {1: 1.0}, {2: 1.0}]


@dataclass(frozen=True)
class Sums:
    """How often each of three players has said a number, and the sum of what they said."""

    turn: int = 0
    total: int = 0
    faults: tuple[Player, ...] = ()


class Adding:
    """Three players say a number at the same time, twice; who is at fault says nothing."""

    name = "adding"
    seats = range(3, 4)

    def new(self, players: Any, seed: int, /, **options: Any) -> Sums:
        return Sums()

    def players(self, state: Sums) -> tuple[int, ...]:
        return (0, 1, 2)

    def to_move(self, state: Sums) -> tuple[Player, ...]:
        return (0, 1, 2) if state.turn < 2 else ()

    def check(self, state: Sums, player: Player, action: int) -> None:
        if action < 0:
            raise IllegalAction(f"{action} is below 0")

    def step(self, state: Sums, actions: Mapping[Player, int | Fault]) -> Sums:
        numbers = [action for action in actions.values() if isinstance(action, int)]
        faults = tuple(player for player in sorted(actions) if isinstance(actions[player], Fault))
        return Sums(state.turn + 1, state.total + sum(numbers), state.faults + faults)

    def observe(self, state: Sums, player: Player | None) -> Sums:
        return state

    def outcome(self, state: Sums) -> Outcome | None:
        return Outcome("said", None, {}, {}) if state.turn == 2 else None

    def sample(self, state: Sums, player: Player, rng: Random) -> int:
        return 1


class TestAllAtOnce:
    @pytest.fixture
    def match(self) -> Match[Sums, int, Sums]:
        return Match(Adding(), Sums(), 1.0, began=0.0)

    def test_a_turn_is_played_when_all_have_acted(self, match: Match[Sums, int, Sums]) -> None:
        match.submit(2, 5, 0.1)
        match.submit(0, 7, 0.2)
        assert (match.state, match.waiting) == (Sums(), (1,))
        match.submit(1, 1, 0.5)
        assert match.state == Sums(1, 13)
        assert (match.waiting, match.deadline) == ((0, 1, 2), 1.5)
        assert match.turns[0].seconds == {2: 0.1, 0: 0.2, 1: 0.5}

    def test_who_is_late_times_out_and_the_others_count(
        self, match: Match[Sums, int, Sums]
    ) -> None:
        match.submit(2, 5, 0.1)
        match.expire(1.01)
        assert match.state == Sums(1, 5, (0, 1))
        assert match.began == 1.0

    def test_faults_and_illegal_actions_wait_for_the_turn(
        self, match: Match[Sums, int, Sums]
    ) -> None:
        match.fault(0, Fault("crashed"), 0.1)
        match.submit(1, -4, 0.1)
        assert (match.state, match.waiting) == (Sums(), (2,))
        match.submit(2, 3, 0.2)
        assert match.state == Sums(1, 3, (0, 1))
        assert match.turns[0].actions[1] == Fault("illegal", "-4 is below 0")
