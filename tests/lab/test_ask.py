"""A bot is asked again what was asked in a match: the same questions, over every transport."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cw.arena.bots import BotSpec, place_of
from cw.errors import UsageError
from cw.games.registry import GAMES, load_endings
from cw.lab.ask import AskedAnswer, Asking, ask, turns_of
from cw.matches.spec import Isolation
from tests.documented import installed, programs
from tests.interpreter import PYTHON
from tests.matches.bots_of_games import SOURCES, served, write
from tests.matches.playing import play_match

pytestmark = pytest.mark.usefixtures("patient_painters")

LATE = 3
"""Turns in which a bot with a defect answers as the one without."""

OPPONENT = {
    "circuit-wars": "greedy",
    "code-battle": "gatherer",
    "end-of-codes": "hunter",
    "hexagon": "greedy",
    "paint": "greedy",
}
OPTIONS: dict[str, dict[str, Any]] = {
    "circuit-wars": {"size": 3},
    "code-battle": {"max_turns": 12},
    "end-of-codes": {"M": 4, "MAX_HP": 5, "max_rounds": 8},
    "hexagon": {"size": 3},
    "paint": {"turns": 8},
}
DEFECTS = {
    "circuit-wars": ('move = free(status["board"])', '"0,0,up"'),
    "code-battle": ('answer = {"moves": moves}', '{"moves": []}'),
    "end-of-codes": ('answer = {"intent": intents}', '{"intent": []}'),
    "hexagon": ("choose(GAMES[self.game()], int(self.path[-1]))", "([0, 0], [0, 0])"),
    "paint": ("[1, 0]", "[0, 1]"),
}
"""What the bot of a game says at first, and what one with a defect says later."""


def with_defect(game: str) -> tuple[str, str]:
    """Return a change of a bot's source: after some turns it answers otherwise."""
    good, bad = DEFECTS[game]
    turn = 'len(state["previous_actions"])' if game == "paint" else "turn"
    return good, f"{good} if {turn} < {LATE} else {bad}"


def asked(
    document: dict[str, Any], player: Any, bot: str, **how: Any
) -> tuple[list[AskedAnswer], str]:
    """Ask a bot; give its answers, and why it was asked no more."""
    place = place_of(bot)
    spec = BotSpec(place.name, place.kind, place.target)
    answers: list[AskedAnswer] = []
    asking = Asking(document, player, spec, isolation=Isolation("off"), **how)
    return answers, asyncio.run(ask(asking, answers.append))


def only(document: dict[str, Any], player: Any, bot: str, turn: int, **how: Any) -> AskedAnswer:
    """Ask a bot about one turn."""
    [answer], problem = asked(document, player, bot, turn=turn, **how)
    assert problem == ""
    return answer


def match(game: str, bot: str, seed: int = 5) -> dict[str, Any]:
    """Return the replay of a match that a bot plays from the second seat."""
    opponent = f"builtin:{OPPONENT[game]}"
    played = play_match(game, [opponent, bot], seed, OPTIONS[game], sandbox="off")
    document: dict[str, Any] = json.loads(json.dumps(played.replay))
    return document


@pytest.mark.parametrize("game", list(GAMES))
def test_a_program_answers_as_it_did_but_for_its_new_defect(game: str, tmp_path: Path) -> None:
    document = match(game, write(tmp_path, SOURCES[game]))
    player = document["players"][1]["player"]
    acted = turns_of(document, player)
    answers, problem = asked(document, player, str(tmp_path / "bot.py"))
    assert problem == ""
    assert [answer.turn for answer in answers] == acted
    assert not any(answer.is_changed for answer in answers)
    assert [answer.verdict for answer in answers] == [answer.verdict_before for answer in answers]

    worse = write(tmp_path, SOURCES[game], with_defect(game))
    answers, problem = asked(document, player, worse)
    assert problem == ""
    # The client of Circuit Wars counts its own moves, all others the turns of the match.
    begin = LATE + load_endings(game).first
    late = acted[LATE:] if game == "circuit-wars" else [turn for turn in acted if turn >= begin]
    assert [answer.turn for answer in answers if answer.is_changed] == late


@pytest.mark.parametrize("game", list(GAMES))
def test_a_strategy_is_asked_what_it_was_asked_whatever_its_opponents_knew(game: str) -> None:
    document = match(game, "builtin:random" if game != "end-of-codes" else "builtin:sample")
    for seat in document["players"]:
        answers, problem = asked(document, seat["player"], seat["bot"])
        assert problem == ""
        assert len(answers) == len(turns_of(document, seat["player"]))
        assert not any(answer.is_changed for answer in answers)


@pytest.mark.parametrize("game", list(GAMES))
def test_a_cold_bot_is_asked_about_the_position_alone(game: str) -> None:
    document = match(game, f"builtin:{OPPONENT[game]}")
    player = document["players"][1]["player"]
    turn = turns_of(document, player)[-1]
    warm = only(document, player, f"builtin:{OPPONENT[game]}", turn)
    cold = only(document, player, f"builtin:{OPPONENT[game]}", turn, is_cold=True)
    assert cold.turn == warm.turn == turn
    assert cold.question == warm.question
    recorded = document["turns"][turn - load_endings(game).first]["actions"]
    assert cold.before == warm.before == recorded[str(player)]


REMEMBERS = """
import json, sys
turns = 0
for line in sys.stdin:
    state = json.loads(line)
    if "player_id" in state:
        print('{"ready":true}', flush=True)
        continue
    turns += 1
    print(f"turn {turns} of {state['turns_left']}", file=sys.stderr, flush=True)
    direction = [1, 0] if turns < 4 else [0, 1]
    answer = {"turns_left": state["turns_left"], "type": "walk", "direction": direction}
    print(json.dumps(answer), flush=True)
"""


def test_one_turn_is_asked_after_all_before_it_and_its_output_is_told_alone(tmp_path: Path) -> None:
    bot = write(tmp_path, REMEMBERS)
    document = match("paint", bot)
    answer = only(document, "bot.py", bot, 5)
    assert not answer.is_changed
    assert answer.stderr == "turn 5 of 4\n"
    assert json.loads(answer.question)["turns_left"] == 4
    cold = only(document, "bot.py", bot, 5, is_cold=True)
    assert cold.after == {"type": "walk", "direction": [1, 0]}
    assert cold.is_changed
    assert cold.stderr == "turn 1 of 4\n"


def test_a_bot_that_ends_is_asked_no_more(tmp_path: Path) -> None:
    document = match("paint", write(tmp_path, SOURCES["paint"]))
    line = "    turn = state"
    crashing = f"    if len(state['previous_actions']) == {LATE}:\n        sys.exit(3)\n{line}"
    answers, problem = asked(
        document, "bot.py", write(tmp_path, SOURCES["paint"], (line, crashing))
    )
    assert [answer.turn for answer in answers] == [1, 2, 3, 4]
    assert answers[-1].verdict.startswith("crashed: ")
    assert "exit code 3" in problem
    assert problem.startswith("in turn 4: ")


def test_what_lost_a_match_by_a_fault_can_be_asked_of_a_bot_without_it(tmp_path: Path) -> None:
    worse = write(tmp_path, SOURCES["hexagon"], with_defect("hexagon"))
    document = match("hexagon", worse)
    last = len(document["turns"])
    answers, problem = asked(document, 2, write(tmp_path, SOURCES["hexagon"]))
    assert problem == ""
    assert [answer.turn for answer in answers if answer.is_changed] == [last]
    assert answers[-1].verdict_before.startswith("illegal: ")
    assert answers[-1].verdict == "legal"


def test_a_client_that_does_not_register_is_told(tmp_path: Path) -> None:
    document = match("circuit-wars", write(tmp_path, SOURCES["circuit-wars"]))
    answers, problem = asked(document, 2, write(tmp_path, "import sys\nsys.exit(3)\n"))
    assert answers == []
    assert problem.startswith("before its first turn it did not accept ")
    assert "exit code 3" in problem


@pytest.mark.thorough
def test_a_service_is_asked_at_its_address_and_its_secret_is_not_shown(tmp_path: Path) -> None:
    bot = served("code-battle", "gatherer")
    document = match("code-battle", bot)
    program = f"{PYTHON} -m cw bots serve code-battle gatherer --port 0"
    environment = {**os.environ, "BOT_SECRET": "geheim"}
    with subprocess.Popen(
        shlex.split(program), stdout=subprocess.PIPE, text=True, env=environment
    ) as service:
        try:
            assert service.stdout is not None
            address = service.stdout.readline().removeprefix("listening on ").strip()
            answers, problem = asked(document, 1, address, secrets={"secret": "geheim"})
            wrong, _ = asked(document, 1, address, secrets={"secret": "falsch"}, turn=1)
            with pytest.raises(UsageError, match="signed"):
                asked(document, 1, address, turn=1)
        finally:
            service.kill()
    assert problem == ""
    assert not any(answer.is_changed for answer in answers)
    assert answers[0].question.startswith("POST /turn\n{")
    assert "401" in wrong[0].verdict


CLASS = """
from random import Random


class Mine:
    def act(self, view):
        return {"type": "walk", "direction": [1, 0]}
"""


def test_a_class_and_a_function_are_asked(tmp_path: Path) -> None:
    document = match("paint", write(tmp_path, SOURCES["paint"]))
    (tmp_path / "mine.py").write_text(CLASS)
    answers, problem = asked(document, "bot.py", f"python:{tmp_path / 'mine.py'}:Mine")
    assert problem == ""
    assert len(answers) == 8
    assert not any(answer.is_changed for answer in answers)


def test_a_game_that_was_added_is_asked_by_the_default_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(installed())
    (tmp_path / "bot.py").write_text(
        programs()["lines.py"] if "lines.py" in programs() else next(iter(programs().values()))
    )
    played = play_match("nim", ["builtin:random", str(tmp_path / "bot.py")], 3, {}, sandbox="off")
    document = json.loads(json.dumps(played.replay))
    answers, problem = asked(document, 1, str(tmp_path / "bot.py"))
    assert problem == ""
    assert answers
    assert not any(answer.is_changed for answer in answers)
    assert json.loads(answers[0].question)["game"] == "nim"


def test_what_cannot_be_asked_is_refused_with_what_can() -> None:
    document = match("circuit-wars", "builtin:random")
    with pytest.raises(UsageError, match="nothing to answer in turn 3; the nearest: 2 and 4"):
        asked(document, 2, "builtin:random", turn=3)
    with pytest.raises(UsageError, match="nothing to answer in turn 900"):
        asked(document, 2, "builtin:random", turn=900)
    with pytest.raises(UsageError, match="no player 7"):
        asked({**document, "turns": [{"actions": {"7": "0,0,top"}}]}, 7, "builtin:random")
    with pytest.raises(UsageError, match="one turn"):
        asked(document, 2, "builtin:random", is_cold=True)
    with pytest.raises(UsageError, match="version 0 of the rules"):
        asked({**document, "rules": 0}, 2, "builtin:random", turn=2)
