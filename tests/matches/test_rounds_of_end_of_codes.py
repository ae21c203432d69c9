"""A mistake in End of Codes has the number of the round that its bot was sent, everywhere."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cw.arena.bots import read_bots
from cw.cli import main
from cw.games.end_of_codes.endings import ENDINGS
from cw.matches.run import run_match
from cw.matches.spec import Isolation, MatchSpec
from cw.replays.document import decode
from cw.web.workshop import with_questions
from tests.matches.bots_of_games import END_OF_CODES, write

WRONG = 'answer = {"intent": intents}'
"""How an answer is made."""


def failing_in(number: int) -> tuple[str, str]:
    """Return the change of a bot that makes a mistake in the answer to a round."""
    jump = '[{**intents[0], "action": "JUMP"}]'
    return WRONG, f'answer = {{"intent": {jump} if turn == {number} else intents}}'


def say(*arguments: str) -> tuple[str, str]:
    """Type a command; return what it prints to standard output and to standard error."""
    result = CliRunner().invoke(main, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.stdout, result.stderr


@pytest.mark.parametrize("number", [0, 1])
def test_a_mistake_has_the_number_of_the_wire_in_each_command(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bot = write(tmp_path, END_OF_CODES, failing_in(number))
    small = ("--option", "M=2", "--option", "MAX_HP=3", "--seed", "3", "--out", "m.json")
    printed, told = say("play", "end-of-codes", f"mine={bot}", "builtin:sample", *small)
    assert f"mine made an illegal move in round {number}." in printed
    assert f"round {number}: mine: illegal: round_action_invalid" in told
    assert f"cw replay line m.json --turn {number} | cw step end-of-codes" in told

    line = json.loads(say("replay", "line", "m.json", "--turn", str(number))[0])
    assert line["state"]["round"] == number
    assert line["actions"]["1"]["intent"][0]["action"] == "JUMP"
    assert f"mine made an illegal move in round {number}." in " ".join(
        say("replay", "show", "m.json")[0].split()
    )
    ask = ("replay", "ask", "m.json", bot, "--player", "mine", "--turn", str(number))
    answer = json.loads(say(*ask, "--json")[0])
    assert (answer["turn"], f"&round={number}&" in answer["question"]) == (number, True)
    assert say(*ask)[0].startswith(f"Round {number}. It was asked:\n")
    assert say(*ask, "--cold", "--json")[0].startswith(f'{{"turn": {number}, ')
    turns = len(decode(Path("m.json").read_bytes())["turns"])
    assert (
        f"the turns 0 to {turns - 1}, and {turns} for its end"
        in (say("replay", "line", "m.json", "--turn", "99")[1])
    )

    checked = say("check", "end-of-codes", f"mine={bot}")[0]
    assert f"illegal in round {number}" in checked if number else "FAILED" in checked


async def turns_of(bot: str) -> list[int]:
    """Return the indices of turns with faults of a bot, as documents have them."""
    bots = read_bots([f"mine={bot}", "builtin:sample"]).bots
    options = {"M": 2, "MAX_HP": 3}
    spec = MatchSpec("m", "end-of-codes", tuple(bots), 3, options, isolation=Isolation())
    return [fault.turn for fault in (await run_match(spec)).faults]


def test_documents_count_turns_from_0_as_before(tmp_path: Path) -> None:
    assert asyncio.run(turns_of(write(tmp_path, END_OF_CODES, failing_in(1)))) == [1]


def test_what_is_said_before_the_first_round_stands_with_it_and_other_games_count_from_1() -> None:
    parts = [(0, "begins "), (1, "goes north"), (2, "stays")]
    assert with_questions(parts, ENDINGS.first) == [(0, "begins goes north"), (1, "stays")]
    assert with_questions(parts, 1) == parts
