"""Matches between real processes over the real wire, honest ones and others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cw.arena.referee import MatchRecord
from cw.errors import UsageError
from cw.games.registry import load_game
from cw.replays.verify import verify
from tests.matches.bots_of_games import PAINT, served, write
from tests.matches.playing import Played, play_match

SERVED: list[tuple[str, str, str, dict[str, Any]]] = [
    ("paint", "random", "greedy", {"turns": 30}),
    ("hexagon", "random", "greedy", {"size": 4, "timeout": 60}),
    ("end-of-codes", "sample", "hunter", {"M": 8, "MAX_HP": 2, "timeout": 60}),
    ("code-battle", "random", "gatherer", {"max_turns": 40}),
]


def play(game: str, bots: list[str], **options: Any) -> Played:
    played = play_match(game, bots, 5, options)
    assert verify(load_game(game), played.replay) is None
    return played


def kinds(played: MatchRecord) -> set[str]:
    return {noted.fault.kind for noted in played.faults}


@pytest.mark.usefixtures("patient_painters")
@pytest.mark.parametrize(("game", "inside", "outside", "options"), SERVED, ids=str)
def test_a_strategy_plays_the_same_over_the_wire(
    game: str, inside: str, outside: str, options: dict[str, Any]
) -> None:
    direct = play(game, [f"a=builtin:{inside}", f"b=builtin:{outside}"], **options)
    wired = play(game, [f"a=builtin:{inside}", f"b={served(game, outside)}"], **options)
    assert wired.record.faults == []
    assert wired.replay["turns"][0]["actions"].keys() == direct.replay["turns"][0]["actions"].keys()
    outcome = wired.record.outcome
    assert outcome is not None
    assert outcome.ranks[list(outcome.ranks)[1]] == 1


def test_code_battle_can_be_played_in_lines() -> None:
    bot = f"me={served('code-battle', 'gatherer')} --lines"
    bots = ["builtin:random", bot]
    played = play_match("code-battle", bots, 5, {"max_turns": 20}, ["me.form=lines"]).record
    assert played.faults == []
    assert len(played.turns) == 20
    with pytest.raises(UsageError, match="speak http, not lines"):
        play_match("hexagon", bots, 5, {}, ["me.form=lines"])


@pytest.mark.usefixtures("patient_painters")
def test_a_class_of_python_plays(tmp_path: Path) -> None:
    bot = tmp_path / "mine.py"
    bot.write_text(
        "class Walker:\n"
        "    def act(self, view):\n"
        "        print('thinking')\n"
        "        return {'type': 'walk', 'direction': [0, 1]}\n"
    )
    finished = play("paint", ["builtin:random", f"me=python:{bot}:Walker"], turns=9)
    assert finished.record.faults == []
    assert "thinking" in finished.record.stderr["me"]
    assert finished.replay["turns"][0]["actions"]["me"]["direction"] == [0, 1]


DRAWING = """
turns = 0

def agent(observation, configuration):
    global turns
    turns += 1
    print(turns, configuration.game, configuration["player"], configuration.actTimeout)
    return first_free(observation.board[0][0])

def first_free(square):
    free = [name for bit, name in enumerate(BORDERS) if not square & 1 << bit]
    return f"0,0,{free[0]}"

BORDERS = "top", "right", "bottom", "left"
"""


def test_a_function_of_python_plays_and_is_told_who_it_is(tmp_path: Path) -> None:
    bot = tmp_path / "agent.py"
    bot.write_text(DRAWING)
    bots = ["builtin:random", f"me=python:{bot}"]
    finished = play("circuit-wars", bots, size=1, timeout=60)
    assert finished.record.faults == []
    assert finished.record.stderr[2] == "1 circuit-wars 2 60.0\n2 circuit-wars 2 60.0\n"


def test_a_function_may_take_the_view_alone_and_is_found_by_its_name(tmp_path: Path) -> None:
    bot = tmp_path / "mine.py"
    bot.write_text(DRAWING + "def mine(view):\n    return first_free(view['board'][0][0])\n")
    named = ["builtin:random", f"me=python:{bot}:mine"]
    assert play("circuit-wars", named, size=1, timeout=60).record.faults == []


def test_a_file_in_which_nothing_plays_is_refused_with_a_sentence(tmp_path: Path) -> None:
    bot = tmp_path / "mine.py"
    bot.write_text("def helper(view):\n    pass\n\nagent = 3\n")
    played = play("circuit-wars", ["builtin:random", f"me=python:{bot}"], size=1, timeout=60)
    (noted,) = played.record.faults
    assert noted.fault.kind == "crashed"
    assert "no class or function Bot or agent" in noted.fault.detail


MISBEHAVING = [
    ("print(json.dumps(answer), flush=True)", "sys.exit(3)", "crashed", "exit code 3"),
    ("print(json.dumps(answer), flush=True)", "sys.exit(0)", "disconnected", "exit code 0"),
    ("print(json.dumps(answer), flush=True)", "1 / 0", "crashed", "ZeroDivisionError"),
    ("print(json.dumps(answer), flush=True)", "print('hello', flush=True)", "malformed", "hello"),
    ('"direction": [1, 0]', '"direction": [0, 0]', "illegal", "not both 0"),
    ('"direction": [1, 0]', '"direction": "up"', "illegal", "up"),
    ('"direction": [1, 0]', '"direction": [True, 0]', "illegal", "expected type"),
    ('"turns_left": turn', '"turns_left": turn + 1', "timeout", "asked for"),
    ('"turns_left": turn', '"turns_left": str(turn)', "malformed", "no JSON object"),
    ("flush=True)\n        continue", "flush=True)\n        sys.exit(1)", "crashed", "exit code 1"),
    ("'{\"ready\":true}'", "'{}'", "startup", "expected"),
    ("import json, sys", "import json, sys; import numbskull", "startup", "numbskull"),
]


@pytest.mark.parametrize(("old", "new", "kind", "detail"), MISBEHAVING)
def test_a_fault_is_named_and_the_others_play_on(
    tmp_path: Path, old: str, new: str, kind: str, detail: str
) -> None:
    bot = write(tmp_path, PAINT, (old, new))
    played = play("paint", ["builtin:walker", f"bad={bot}", "builtin:random"], turns=4).record
    assert kind in kinds(played)
    assert any(detail in noted.fault.detail for noted in played.faults)
    assert {noted.player for noted in played.faults} == {"bad"}
    assert len(played.turns) == 4
    assert played.outcome is not None
    assert played.outcome.reason == "turns_over"


def test_without_two_ready_bots_no_turn_is_played(tmp_path: Path) -> None:
    bot = write(tmp_path, PAINT, ("import json, sys", "raise SystemExit(1)"))
    played = play_match("paint", [bot, "builtin:walker"], 1, {}).record
    assert played.outcome is not None
    assert played.outcome.reason == "not_enough_ready"
    assert played.outcome.ranks == {"bot.py": 2, "walker": 1}
    assert played.turns == []


def test_nothing_listens() -> None:
    bots = ["builtin:random", "http://127.0.0.1:9"]
    played = play("hexagon", bots).record
    assert played.outcome is not None
    assert (played.outcome.reason, played.outcome.winner) == ("disconnected", 1)
    assert "nothing listens" in played.faults[0].fault.detail
    bots = ["builtin:sample", "http://127.0.0.1:9"]
    played = play("end-of-codes", [*bots, "builtin:sample"], M=5, MAX_HP=2).record
    assert played.faults[0].fault.detail == "initiate_could_not_connect"
    assert [player.userid for player in played.state.players] == [1, 3]
    signed = ["builtin:random", bots[1]]
    played = play_match(
        "code-battle", signed, 5, {"max_turns": 15}, ["127.0.0.1:9.secret=abc"]
    ).record
    assert played.state.stats[1].crashed


@pytest.mark.parametrize(
    ("game", "bots", "options", "message"),
    [
        ("paint", ["builtin:random"], {}, "2 to"),
        ("paint", ["builtin:random", "builtin:nobody"], {}, "no strategy 'nobody'"),
        ("paint", ["builtin:random", "http://127.0.0.1:1"], {}, "programs, not web services"),
        ("paint", ["builtin:random", "builtin:random"], {"hat": 1}, "unknown option"),
        ("hexagon", ["builtin:random", "python:nowhere.py"], {}, "no file"),
        ("circuit-wars", ["builtin:random", "http://127.0.0.1:1"], {}, "programs"),
        ("circuit-wars", ["builtin:random"] * 3, {}, "exactly 2 bots; you gave 3"),
        ("chess", ["builtin:random", "builtin:random"], {}, "no game 'chess'"),
    ],
)
def test_what_cannot_be_played_is_refused(
    game: str, bots: list[str], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        play_match(game, bots, 1, options)


def test_a_program_that_is_not_there_never_starts() -> None:
    played = play("hexagon", ["builtin:random", "exec:no-such-program-here"])
    assert played.result.winner == 0
    assert played.result.faults[0].kind == "startup"
    assert "no-such-program-here" in played.result.faults[0].detail
