"""`cw step` and `cw observe` as other programs use them: a process that answers line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw.cli import step as step_command
from tests.games.circuit_wars.examples import SEED_MOVES, SEED_STATUS


class Asked:
    """A running command that is asked one line at a time."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cw", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Unbuffered, it would answer in time without a flush.
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        )

    def ask(self, line: object) -> Any:
        """Send a line and wait for its answer before anything else is sent."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@contextmanager
def command(*arguments: str) -> Iterator[Asked]:
    process = Asked(*arguments)
    with process.process:
        yield process
        assert process.process.stdin is not None
        process.process.stdin.close()
        assert process.process.wait(300) == 0


@pytest.fixture(scope="module")
def step() -> Iterator[Asked]:
    """One process that answers the lines of all tests, and ends well after them."""
    with command("step", "circuit-wars") as process:
        yield process


def test_a_whole_conversation(step: Asked) -> None:
    answer = step.ask({"state": None, "options": {"size": 7}})
    for turn, move in enumerate(SEED_MOVES):
        answer = step.ask({"state": answer["state"], "actions": {str(1 + turn % 2): move}})
    assert answer["outcome"] is None
    assert answer["state"] == {
        "size": 7,
        "board": SEED_STATUS["board"],
        "player": 1,
        "scores": [3, 4],
        "last_move": "4,0,bottom",
        "ended": None,
        "winner": None,
    }


def test_faults_and_illegal_moves_end_the_game(step: Asked) -> None:
    late = step.ask({"state": None, "actions": {"1": {"fault": "timeout"}}})
    assert (late["state"]["ended"], late["outcome"]["winner"]) == ("timeout", 2)
    illegal = step.ask({"state": None, "actions": {"1": "9,9,top"}})
    assert illegal["outcome"] == {
        "reason": "illegal",
        "winner": 2,
        "scores": {"1": 0, "2": 0},
        "ranks": {"2": 1, "1": 2},
    }
    out_of_turn = step.ask({"state": None, "actions": {"2": "0,0,top"}})
    assert out_of_turn["outcome"]["winner"] == 1


def test_the_one_square_game(step: Asked) -> None:
    answer = step.ask({"state": None, "options": {"size": 1}})
    for player, border in zip("1212", ("top", "right", "bottom", "left"), strict=True):
        line = {"state": answer["state"], "actions": {player: f"0,0,{border}"}}
        answer = step.ask(line)
    assert answer["outcome"]["reason"] == "finished"
    assert answer["outcome"]["winner"] == 2


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"nonsense", "not JSON"),
        (b"[]", "must be a JSON object"),
        (b'{"state": NaN}', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"{}", "no 'state'"),
        (b'{"state": 5}', "not a valid state of circuit-wars"),
        (b'{"state": null, "options": {"size": 2}}', "odd number"),
        (b'{"state": null, "options": {"sise": 7}}', "unknown option 'sise'"),
        (b'{"state": null, "options": {"players": 3}}', "2 players"),
        (b'{"state": null, "options": {"seed": "x"}}', "seed must be"),
        (b'{"state": null, "options": []}', "'options' must be an object"),
        (b'{"state": null, "options": 5}', "'options' must be an object"),
        (b'{"state": null, "actions": 5}', "'actions' must be an object"),
        (b'{"state": null, "actions": {"3": "0,0,top"}}', "unknown player '3'"),
        (b'{"state": null, "actions": {"1": 5}}', "action of player 1"),
        (b'{"state": null, "actions": {"1": {"fault": "boredom"}}}', "unknown fault 'boredom'"),
        (b'{"state": null, "actions": {"1": {"fault": ["x"]}}}', "unknown fault"),
    ],
)
def test_a_line_that_cannot_be_used_gets_an_error_and_the_next_is_served(
    step: Asked, line: bytes, error: str
) -> None:
    answer = step.ask(line)
    assert list(answer) == ["error"]
    assert error in answer["error"]
    assert step.ask({"state": None})["state"]["player"] == 1


def test_an_empty_line_gets_no_answer(step: Asked) -> None:
    assert step.ask(b'\n{"state": null}')["state"]["player"] == 1


def test_observe_shows_the_state_since_nothing_is_hidden(step: Asked) -> None:
    state = step.ask({"state": None, "actions": {"1": "3,3,left"}})["state"]
    with command("observe", "circuit-wars") as observe:
        for player in (1, 2, "1", None):
            assert observe.ask({"state": state, "player": player}) == {"view": state}
        assert "unknown player" in observe.ask({"state": state, "player": 7})["error"]
        assert "no 'state'" in observe.ask({"player": 1})["error"]


def test_an_unknown_game_is_wrong_usage() -> None:
    done = CliRunner().invoke(main, ["step", "chess"])
    assert done.exit_code == 2
    assert "there is no game 'chess'; there are: circuit-wars" in done.stderr


def test_the_rest_of_a_line_that_is_too_long_is_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_command, "LONGEST_LINE", 8)
    lines = step_command.read_lines(BytesIO(b"0123456789abcdefghi\n\nshort\n"))
    assert list(lines) == [b"01234567", b"short\n"]
