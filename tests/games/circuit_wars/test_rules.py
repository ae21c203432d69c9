"""The rules of Circuit Wars, paragraph by paragraph, and against a plain reference."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.errors import IllegalAction, OutOfTurn, ProtocolError, UsageError
from cw.games.circuit_wars import board
from cw.games.circuit_wars.board import parse_move
from cw.games.circuit_wars.codec import CircuitWarsCodec
from cw.games.circuit_wars.rules import CircuitWars, State
from cw.games.rules import FAULT_KINDS, Fault
from tests.effort import amount
from tests.games.circuit_wars.examples import BOUNDARY, SEED_MOVES, SEED_STATUS
from tests.games.circuit_wars.reference import Reference

GAMES = amount(200, 2000, "CW_GAMES")
"""Random games that are compared with the reference."""

GAME = CircuitWars()
CODEC = CircuitWarsCodec(GAME)


def play(moves: Sequence[str], size: int = 7) -> State:
    state = GAME.new(2, 0, size=size)
    for move in moves:
        state = GAME.step(state, {state.player: move})
    return state


def rows(state: State) -> list[list[int]]:
    return [list(row) for row in state.board]


def random_game(rng: random.Random, size: int) -> list[State]:
    """All states of a random game."""
    states = [GAME.new(2, 0, size=size)]
    while GAME.to_move(states[-1]):
        state = states[-1]
        states.append(GAME.step(state, {state.player: GAME.sample(state, state.player, rng)}))
    return states


class TestRule1Turns:
    def test_player_1_begins_and_players_alternate(self) -> None:
        assert play([]).player == 1
        assert play(["0,0,top"]).player == 2
        assert play(["0,0,top", "0,0,left"]).player == 1

    def test_closing_an_area_gives_no_extra_turn(self) -> None:
        state = play(["0,0,top", "0,0,left", "0,0,right", "0,0,bottom"])
        assert (state.scores, state.player) == ((0, 1), 1)


class TestRule2Areas:
    def test_a_closed_area_belongs_to_the_mover_whatever_its_size(self) -> None:
        moves = ["0,0,top", "1,0,top", "0,0,left", "0,0,bottom", "1,0,bottom", "1,0,right"]
        state = play(moves)
        assert state.scores == (0, 2)
        assert rows(state)[0][:2] == [32 + 1 + 4 + 8, 32 + 1 + 2 + 4]

    def test_the_area_on_the_other_side_of_the_segment_counts_too(self) -> None:
        state = play(["3,3,top", "3,3,left", "3,3,bottom", "4,3,left"])
        assert state.scores == (0, 1)

    def test_an_owned_area_inside_a_later_one_keeps_its_owner(self) -> None:
        inner = ["3,3,top", "3,3,left", "3,3,bottom", "3,3,right"]
        ring = [name for x in (2, 3, 4) for name in (f"{x},2,top", f"{x},4,bottom")]
        ring += [name for y in (2, 3, 4) for name in (f"2,{y},left", f"4,{y},right")]
        state = play([*inner, *ring])
        assert state.scores == (0, 1 + 8)
        state = play([*inner, "0,6,bottom", *ring])
        assert state.scores == (8, 1)

    def test_no_move_closes_more_than_one_area(self) -> None:
        rng = random.Random(3)
        for _ in range(30):
            states = random_game(rng, 5)
            for before, after in pairwise(states):
                gained = [
                    (x, y)
                    for y in range(5)
                    for x in range(5)
                    if not before.board[y][x] >> 4 and after.board[y][x] >> 4
                ]
                assert connected(after, gained)


def connected(state: State, squares: list[tuple[int, int]]) -> bool:
    """Return whether squares hang together across undrawn segments."""
    if not squares:
        return True
    reached, queue = {squares[0]}, [squares[0]]
    while queue:
        x, y = queue.pop()
        for neighbour in board.neighbours(state.board[y][x], x, y):
            if neighbour in squares and neighbour not in reached:
                reached.add(neighbour)
                queue.append(neighbour)
    return reached == set(squares)


class TestRule3Encoding:
    def test_the_example_of_the_seed(self) -> None:
        state = play(SEED_MOVES)
        assert rows(state) == SEED_STATUS["board"]
        assert state.scores == (3, 4)
        assert state.last_move == "4,0,bottom"
        assert state.player == 1

    def test_segments_inside_a_closed_area_are_not_free_and_have_no_bits(self) -> None:
        state = play(SEED_MOVES)
        assert not state.board[0][2] & 4
        with pytest.raises(IllegalAction, match="inside a closed area"):
            GAME.check(state, 1, "2,0,bottom")


class TestRule4End:
    def test_one_square(self) -> None:
        state = play(["0,0,top", "0,0,right", "0,0,bottom", "0,0,left"], size=1)
        assert (state.ended, state.winner, state.scores) == ("finished", 2, (0, 1))
        assert GAME.to_move(state) == ()

    def test_the_boundary_alone_takes_the_whole_board(self) -> None:
        assert play(BOUNDARY[:-1]).ended is None
        state = play(BOUNDARY)
        assert (state.ended, state.winner, state.scores) == ("finished", 2, (0, 49))

    @pytest.mark.parametrize("size", [1, 3, 5, 7])
    def test_at_the_end_every_square_is_owned_and_one_player_has_more(self, size: int) -> None:
        rng = random.Random(size)
        for _ in range(10):
            end = random_game(rng, size)[-1]
            assert sum(end.scores) == size**2
            assert end.scores[0] != end.scores[1]
            assert end.winner == (1 if end.scores[0] > end.scores[1] else 2)
            assert board.free_moves(end.board) == []


class TestRule5Illegal:
    @pytest.mark.parametrize(
        ("move", "reason"),
        [
            ("0,0,top", "already drawn"),
            ("7,0,left", "off the board"),
            ("0,7,top", "off the board"),
            ("999,0,top", "off the board"),
            ("1000,0,top", "cannot be read"),
            ("-1,0,right", "cannot be read"),
            ("+1,0,top", "cannot be read"),
            (" 1,0,top", "cannot be read"),
            ("1,0,top ", "cannot be read"),
            ("1,0,top\n", "cannot be read"),
            ("1.0,0,top", "cannot be read"),
            ("1,0,Top", "cannot be read"),
            ("1,0", "cannot be read"),
            ("1,0,top,", "cannot be read"),
            ("", "cannot be read"),
            ("١,0,top", "cannot be read"),
            ("²,0,top", "cannot be read"),
            ("1,0,middle", "cannot be read"),
            ("x" * 100_000, "cannot be read"),
        ],
    )
    def test_a_move_that_is_no_free_segment_loses(self, move: str, reason: str) -> None:
        before = play(["0,0,top"])
        with pytest.raises(IllegalAction, match=reason):
            GAME.check(before, 2, move)
        after = GAME.step(before, {2: move})
        assert (after.ended, after.winner) == ("illegal", 1)
        assert (after.board, after.scores, after.last_move) == (before.board, (0, 0), "0,0,top")

    def test_a_move_out_of_turn_loses(self) -> None:
        with pytest.raises(OutOfTurn, match="player 1's turn"):
            GAME.check(play([]), 2, "0,0,top")
        after = GAME.step(play([]), {2: "0,0,top"})
        assert (after.ended, after.winner) == ("illegal", 1)

    def test_the_movers_action_counts_before_one_out_of_turn(self) -> None:
        first = GAME.step(play([]), {1: "0,0,top", 2: "1,1,top"})
        second = GAME.step(play([]), {2: "1,1,top", 1: "0,0,top"})
        assert first == second
        assert (first.last_move, first.ended, first.winner) == ("1,1,top", None, None)

    def test_both_names_of_a_segment_are_the_same_move(self) -> None:
        assert play(["1,2,top"]).board == play(["1,1,bottom"]).board
        assert play(["1,2,right"]).board == play(["2,2,left"]).board
        with pytest.raises(IllegalAction, match="already drawn"):
            GAME.check(play(["1,2,top"]), 2, "1,1,bottom")

    def test_the_move_is_kept_as_it_was_sent(self) -> None:
        assert play(["1,1,bottom"]).last_move == "1,1,bottom"
        assert play(["01,1,bottom"]).last_move == "01,1,bottom"


class TestRule6Faults:
    @pytest.mark.parametrize("kind", FAULT_KINDS)
    @pytest.mark.parametrize("player", [1, 2])
    def test_any_fault_at_any_time_loses(self, kind: str, player: int) -> None:
        for state in random_game(random.Random(1), 3)[:-1]:
            fault = Fault.from_json({"fault": kind})
            after = GAME.step(state, {player: fault})
            assert after.ended == ("timeout" if kind == "timeout" else "illegal")
            assert after.winner == 3 - player
            assert (after.board, after.scores) == (state.board, state.scores)

    def test_nothing_changes_after_the_end(self) -> None:
        end = random_game(random.Random(2), 3)[-1]
        for action in ("0,0,top", Fault("timeout")):
            assert GAME.step(end, {1: action, 2: action}) == end
        with pytest.raises(OutOfTurn, match="over"):
            GAME.check(end, 1, "0,0,top")


class TestRule7Symmetry:
    @pytest.mark.parametrize("size", [3, 5, 7])
    def test_the_point_symmetric_answer_wins_for_player_2(self, size: int) -> None:
        opposite = {"top": "bottom", "bottom": "top", "left": "right", "right": "left"}
        rng = random.Random(size)
        for _ in range(10):
            state = GAME.new(2, 0, size=size)
            while GAME.to_move(state):
                state = GAME.step(state, {1: GAME.sample(state, 1, rng)})
                x, y, border = state.last_move.split(",")
                mirrored = f"{size - 1 - int(x)},{size - 1 - int(y)},{opposite[border]}"
                if GAME.to_move(state):
                    state = GAME.step(state, {2: mirrored})
            assert (state.ended, state.winner) == ("finished", 2)


class TestOptions:
    @pytest.mark.parametrize("size", [0, -1, 2, 8, 33, 7.0, "7", True, None])
    def test_only_odd_sizes_up_to_31(self, size: object) -> None:
        with pytest.raises(UsageError, match="size must be an odd number from 1 to 31"):
            GAME.new(2, 0, size=size)

    def test_the_largest_board(self) -> None:
        state = play(["0,0,top", "30,30,bottom"], size=31)
        assert len(board.free_moves(state.board)) == 2 * 31 * 32 - 2

    def test_an_unknown_option_is_refused(self) -> None:
        with pytest.raises(
            UsageError,
            match="unknown option 'sise'; did you mean size\\? There are: size, openings",
        ):
            GAME.new(2, 0, sise=7)

    @pytest.mark.parametrize("players", [0, 1, 3])
    def test_only_two_players(self, players: int) -> None:
        with pytest.raises(UsageError, match="2 players"):
            GAME.new(players, 0)

    def test_openings_come_from_the_seed(self) -> None:
        first, again, other = (GAME.new(2, seed, openings=4) for seed in (5, 5, 6))
        assert first == again
        assert first.board != other.board
        assert first.player == 1
        assert 112 - len(board.free_moves(first.board)) == 4

    @pytest.mark.parametrize("openings", [-1, 50, 1.5, True, "4"])
    def test_openings_are_a_whole_number(self, openings: object) -> None:
        with pytest.raises(UsageError, match="openings must be a whole number from 0 to 49"):
            GAME.new(2, 0, openings=openings)


class TestJson:
    def test_a_state_survives_its_json(self) -> None:
        for size in (1, 3, 5):
            for state in random_game(random.Random(size), size):
                assert CODEC.state_from_json(CODEC.state_to_json(state)) == state

    def test_the_document_of_a_state(self) -> None:
        document = CODEC.state_to_json(GAME.new(2, 0, size=1))
        assert document == {
            "size": 1,
            "board": [[0]],
            "player": 1,
            "scores": [0, 0],
            "last_move": "",
            "ended": None,
            "winner": None,
        }

    @pytest.mark.parametrize(
        ("change", "place"),
        [
            ({"size": 2}, "size must be an odd number"),
            ({"size": "3"}, "size"),
            ({"board": [[0]]}, "board"),
            ({"board": [[0, 0, 0], [0, 0, 0], [0, 0]]}, "board"),
            ({"board": [[0, 0, 0], [0, 0, 0], [0, 0, 48]]}, r"board\[2\]\[2\]"),
            ({"board": [[2, 0, 0], [0, 0, 0], [0, 0, 0]]}, r"board\[0\]\[0\]"),
            ({"board": [[0, 0, 0], [0, 0, 0], [0, 0, "0"]]}, r"board\[2\]\[2\]|board"),
            ({"player": 3}, "player"),
            ({"player": True}, "player"),
            ({"scores": [1, 0]}, "scores"),
            ({"ended": "finished", "winner": 1}, "ended"),
            ({"ended": "illegal"}, "winner"),
            ({"winner": 1}, "winner"),
            ({"ended": "bored", "winner": 1}, "ended"),
        ],
    )
    def test_what_is_no_state_is_refused_with_the_place(
        self, change: dict[str, object], place: str
    ) -> None:
        document = CODEC.state_to_json(GAME.new(2, 0, size=3)) | change
        with pytest.raises(ProtocolError, match=place):
            CODEC.state_from_json(document)

    def test_an_action_is_text(self) -> None:
        state = play([])
        assert CODEC.actions_from_json(state, {"1": "1,2,top"}) == {1: "1,2,top"}
        with pytest.raises(ProtocolError, match="action of player 1: Expected `str`"):
            CODEC.actions_from_json(state, {"1": [1, 2, "top"]})

    @pytest.mark.parametrize("name", [0, 3, "0", "one", True, None, 1.5, [1]])
    def test_players_are_1_and_2(self, name: object) -> None:
        with pytest.raises(ProtocolError, match="unknown player"):
            CODEC.player_from_json(play([]), name)


sizes = st.sampled_from([1, 3, 5, 7])
seeds = st.integers(0, 2**32)


class TestProperties:
    @given(sizes, seeds)
    def test_scores_sum_to_the_owned_squares(self, size: int, seed: int) -> None:
        for state in random_game(random.Random(seed), size):
            owned = sum(square >= 16 for row in state.board for square in row)
            assert sum(state.scores) == owned

    @given(sizes, seeds, st.text())
    def test_only_a_legal_action_changes_the_board(self, size: int, seed: int, text: str) -> None:
        rng = random.Random(seed)
        state = rng.choice(random_game(rng, size)[:-1])
        legal = text in Reference(size).names() and text in {
            str(name)
            for move in board.free_moves(state.board)
            for name in (move, move.from_across())
        }
        after = GAME.step(state, {state.player: text})
        assert (after.board != state.board) == legal

    @given(sizes, seeds)
    def test_the_order_never_changes_which_segments_are_drawn(self, size: int, seed: int) -> None:
        rng = random.Random(seed)
        moves = rng.sample(Reference(size).free(), k=min(8, 2 * size * (size + 1)))
        segments = [
            {m for m in Reference(size).names() if board.is_drawn(state.board, parse_move(m))}
            for order in (moves, rng.sample(moves, k=len(moves)))
            if (state := play(order, size)).ended is None
        ]
        assert all(one == segments[0] for one in segments)

    def test_the_players_outcome_names_both(self) -> None:
        outcome = GAME.outcome(play(BOUNDARY))
        assert outcome is not None
        assert outcome.to_json() == {
            "reason": "finished",
            "winner": 2,
            "scores": {"1": 0, "2": 49},
            "ranks": {"2": 1, "1": 2},
        }
        assert GAME.outcome(play([])) is None

    def test_nothing_is_hidden(self) -> None:
        state = play(SEED_MOVES)
        assert GAME.observe(state, 1) == GAME.observe(state, 2) == GAME.observe(state, None)
        assert CODEC.view_to_json(GAME.observe(state, 1)) == CODEC.state_to_json(state)


@pytest.mark.parametrize("part", range(10))
def test_random_games_agree_with_the_reference(part: int) -> None:
    rng = random.Random(part)
    for size in rng.choices([1, 3, 5, 7], weights=[10, 60, 22, 8], k=GAMES // 10):
        state = GAME.new(2, 0, size=size)
        reference = Reference(size)
        while GAME.to_move(state):
            free = [str(move) for move in board.free_moves(state.board)]
            move = rng.choice(free)
            assert reference.is_free(reference.line(move))
            reference.draw(move, state.player)
            state = GAME.step(state, {state.player: move})
            assert rows(state) == reference.board()
            assert state.scores == reference.scores()
        assert reference.free() == []
