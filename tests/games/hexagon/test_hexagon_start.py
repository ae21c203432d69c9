"""How a battle of Hexagon starts, and what its states are as documents and on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cw.cli.step import read_object, step_line
from cw.errors import ProtocolError, UsageError
from cw.games.codec import Game
from cw.games.hexagon.state import State
from cw.games.rules import Fault
from tests.games.hexagon.positions import B3, CODEC, GAME, LOST, state


class TestStart:
    @pytest.mark.parametrize(
        ("size", "stones"), [(2, 0), (3, 2), (4, 4), (5, 6), (6, 8), (7, 12), (12, 40)]
    )
    def test_the_usual_number_of_stones(self, size: int, stones: int) -> None:
        start = GAME.new(2, 3, size=size)
        board = [start.at(cell) for cell in start.grid.cells]
        assert board.count(-1) == stones
        assert start == GAME.new(2, 3, size=size)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"size": 1}, "size must be a whole number from 2 to 12, got 1"),
            ({"size": 5.0}, "size must be a whole number from 2 to 12, got 5.0"),
            ({"size": True}, "got True"),
            (
                {"size": 3, "stones": 9},
                "stones must be a whole number from 0 to 4 for size 3, got 9",
            ),
            ({"sise": 3}, "unknown option 'sise'"),
            (
                {"cells": [[0]]},
                "cells must be a list of rows, an odd number from 3 to 23, got 1 rows",
            ),
            ({"cells": {"0": 1}}, "from 3 to 23, got {'0': 1}"),
            ({"cells": B3, "size": 3}, "cells excludes"),
            (
                {"cells": [[0, *B3[0][1:]], *B3[1:]]},
                r"cells\[0\]\[0\] lies outside the hexagon and must be -1, got 0",
            ),
            ({"cells": [[-1, 3, 0, 2, -1], *B3[1:]]}, r"cells\[0\]\[1\] must be -1, 0, 1 or 2"),
            (
                {"cells": [*B3[:4], B3[0][:4]]},
                "cells must be 5 rows of 5 for size 3, got 4 values in row 4",
            ),
            ({"cells": [*B3[:4], None]}, "5 rows of 5 for size 3, got None in row 4"),
            ({"cells": [[-1, 0, 0], [0, 0, 0], [-1, 0, 1]]}, "one chip of each colour"),
        ],
    )
    def test_what_makes_no_start_is_refused(self, options: Any, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            GAME.new(2, 0, **options)

    @pytest.mark.parametrize("seed", [2**63, 2**64, 10**40])
    def test_a_seed_may_be_as_large_as_one_likes(self, seed: int) -> None:
        assert GAME.new(2, seed) == GAME.new(2, seed)
        assert GAME.new(2, seed) != GAME.new(2, 0)
        line = json.dumps({"state": None, "options": {"seed": seed}}).encode()
        assert step_line(Game(GAME, CODEC), read_object(line))["state"] == CODEC.state_to_json(
            GAME.new(2, seed)
        )

    @pytest.mark.parametrize("seed", [-1, True, 1.0, "1", None])
    def test_what_is_no_seed_is_refused(self, seed: Any) -> None:
        with pytest.raises(
            UsageError, match=f"seed must be a whole number of 0 or more, got {seed!r}"
        ):
            GAME.new(2, seed)

    def test_an_explicit_board(self) -> None:
        start = GAME.new(2, 0, cells=[[-1, 1, 1], [2, 1, 0], [-1, 2, 1]])
        assert (start.placed, start.jumps) == ((4, 2), (2, 1))

    def test_a_board_without_a_move_is_over_at_once(self) -> None:
        start = GAME.new(2, 0, cells=[[-1, 1, 1], [2, 1, 2], [-1, 2, 1]])
        assert (start.ended, start.winner) == ("finished", 1)


class TestCommand:
    def test_the_line_of_a_start_and_of_a_move(self) -> None:
        answer = step_line(Game(GAME, CODEC), {"state": None, "options": {"size": 3, "stones": 0}})
        assert answer["changes"] == []
        line = {
            "state": answer["state"],
            "actions": {"1": {"move_from": [0, 1], "move_to": [0, 2]}},
        }
        moved = step_line(Game(GAME, CODEC), json.loads(json.dumps(line)))
        assert moved["changes"] == [[0, 2, 0, 1], [0, 3, 2, 1]]
        assert moved["outcome"] is None
        assert list(moved["state"]) == [
            "size",
            "cells",
            "jumps",
            "placed",
            "color",
            "ended",
            "winner",
            "fault",
        ]

    @pytest.mark.parametrize(
        "payload",
        [
            {"move_from": [0, 1]},
            {"move_from": [0, 1], "move_to": [0.0, 2]},
            {"move_from": [0, 1], "move_to": [True, 2]},
            {"move_from": [0, 1], "move_to": [0, 2, 1]},
            None,
            "0,1",
            [],
        ],
    )
    def test_what_is_no_move_is_malformed(self, payload: Any) -> None:
        position = state(B3)
        after = GAME.step(position, CODEC.actions_from_json(position, {"1": payload}))
        assert after.fault is not None
        assert (after.fault.kind, after.winner) == ("malformed", 2)

    @pytest.mark.parametrize(
        ("position", "actions", "message"),
        [
            (state(B3), {}, "no action: the colour to move must act"),
            (state(B3), {"2": {"move_from": [0, 3], "move_to": [0, 2]}}, "colour 1 is to move"),
            (state(B3), {"3": None}, "unknown player"),
            (state(B3), {"1": {"fault": "boredom"}}, "unknown fault"),
        ],
    )
    def test_errors(self, position: State, actions: Any, message: str) -> None:
        with pytest.raises(ProtocolError, match=message):
            CODEC.actions_from_json(position, actions)

    def test_nothing_follows_a_fault_and_no_move_follows_the_end(self) -> None:
        lost = GAME.step(state(B3), {1: Fault("timeout")})
        for action in ({"fault": "timeout"}, {"move_from": [0, 1], "move_to": [0, 2]}):
            with pytest.raises(ProtocolError, match="ended by a fault"):
                CODEC.actions_from_json(lost, {"1": action})
        end = GAME.new(2, 0, cells=[[-1, 1, 1], [2, 1, 2], [-1, 2, 1]])
        with pytest.raises(ProtocolError, match="no move can follow"):
            CODEC.actions_from_json(end, {"1": {"move_from": [0, 1], "move_to": [0, 2]}})

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"size": 4}, "cells must be 7 rows of 7 for size 4, got 5 rows"),
            ({"cells": "none"}, "cells must be 5 rows of 5 for size 3, got 'none'"),
            ({"size": 1}, r">= 2 - at `\$.size`: it is 1"),
            ({"jumps": {"1": 2, "2": 1}}, "jumps of colour 1 must be from 0 to 1"),
            ({"jumps": [1, 1]}, r"at `\$.jumps`: it is \[1, 1\]"),
            ({"color": 3}, r"at `\$.color`: it is 3"),
            ({"ended": "finished"}, "color is 1, but ended"),
            (
                LOST | {"fault": {"color": 1, "kind": "bored", "error": ""}},
                r"at `\$.fault.kind`: it is 'bored'",
            ),
            (
                LOST | {"fault": {"color": 3, "kind": "illegal", "error": ""}},
                r"at `\$.fault.color`: it is 3",
            ),
            (
                LOST | {"fault": {"color": 1, "kind": "illegal"}},
                r"missing required field `error` - at `\$.fault`",
            ),
            (
                LOST | {"fault": {"color": 1, "kind": "illegal", "error": 5}},
                r"`str`, got `int` - at `\$.fault.error`: it is 5",
            ),
            (LOST | {"fault": "illegal"}, r"at `\$.fault`: it is 'illegal'"),
            (LOST | {"ended": "finished"}, "ended is 'finished', but there is a fault"),
            (
                {"fault": {"color": 1, "kind": "illegal", "error": ""}},
                "ended is None, but there is a fault",
            ),
        ],
    )
    def test_what_is_no_state_is_refused(self, change: Any, message: str) -> None:
        document = CODEC.state_to_json(state(B3))
        with pytest.raises(ProtocolError, match=message):
            CODEC.state_from_json(document | change)
        del document["cells"]
        with pytest.raises(ProtocolError, match="missing required field `cells`"):
            CODEC.state_from_json(document)

    def test_a_fault_may_be_missing_in_a_state(self) -> None:
        document = CODEC.state_to_json(state(B3))
        del document["fault"]
        assert CODEC.state_from_json(document) == state(B3)
        lost = CODEC.state_to_json(state(B3)) | LOST
        read = CODEC.state_from_json(lost)
        outcome = GAME.outcome(read)
        assert outcome is not None
        assert (outcome.reason, outcome.winner) == ("illegal", 2)
        assert CODEC.state_to_json(read) == lost
        del lost["fault"]
        outcome = GAME.outcome(CODEC.state_from_json(lost))
        assert outcome is not None
        assert (outcome.reason, outcome.winner) == ("fault", 2)
