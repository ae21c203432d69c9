"""What a bot's author is told: every game names each fault once, the same everywhere.

Each bot is a real program that plays well at first, and breaks one rule late.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cw.cli import main
from cw.games.registry import GAMES
from tests.matches.bots_of_games import SOURCES, write

pytestmark = pytest.mark.usefixtures("patient_painters")

LATE = 3
"""Turns that every bot plays well."""

OPPONENT = {
    "circuit-wars": "random",
    "code-battle": "random",
    "end-of-codes": "idle",
    "hexagon": "random",
    "paint": "walker",
}
OPTIONS: dict[str, tuple[str, ...]] = {
    "circuit-wars": ("size=5",),
    "code-battle": ("max_turns=20",),
    "end-of-codes": ("M=4", "MAX_HP=5", "max_rounds=12"),
    "hexagon": ("size=4",),
    "paint": ("turns=12",),
}


@dataclass(frozen=True)
class Wrong:
    """A line of a bot, what is put in its place, and what the author must be told."""

    game: str
    old: str
    new: str
    kind: str
    detail: str

    def source(self, folder: Path) -> str:
        return write(folder, SOURCES[self.game], (self.old, self.new))


CIRCUIT_WARS = 'move = free(status["board"])'
CODE_BATTLE = 'answer = {"moves": moves}'
SIGNED = "self.reply(body, 200, mark)"
END_OF_CODES = 'answer = {"intent": intents}'
HEXAGON = "choose(GAMES[self.game()], int(self.path[-1]))\n"
PAINT = 'answer = {"turns_left": turn, "type": "walk", "direction": [1, 0]}'
REPLY = "print(json.dumps(answer), flush=True)"
PLAYED = 'len(state["previous_actions"])'


def late(line: str, instead: str, turn: str = "turn") -> tuple[str, str]:
    """Return a line, and one that does something else after the first turns."""
    return line, f"{line.rstrip()} if {turn} < {LATE} else {instead}"


WRONG = [
    Wrong("circuit-wars", *late(CIRCUIT_WARS, '"0,0,up"'), "illegal", "0,0,up"),
    Wrong("circuit-wars", *late(CIRCUIT_WARS, '"9,9,top"'), "illegal", "9,9,top"),
    Wrong("circuit-wars", *late(CIRCUIT_WARS, "sys.exit(3)"), "crashed", "exit code 3"),
    Wrong("code-battle", *late(CODE_BATTLE, '{"moves": moves + [7]}'), "illegal", "moves["),
    Wrong("code-battle", *late(CODE_BATTLE, '{"moves": None}'), "malformed", "null"),
    Wrong(
        "code-battle",
        *late(SIGNED, "self.reply(body, 200, mark[::-1])", "int(turn)"),
        "malformed",
        "signature wrong",
    ),
    Wrong("code-battle", *late(SIGNED, "self.reply(b'', 500)"), "malformed", "HTTP status 500"),
    Wrong("code-battle", *late(CODE_BATTLE, "os._exit(3)"), "crashed", "exit code 3"),
    Wrong(
        "end-of-codes",
        *late(END_OF_CODES, '{"intent": [{**intents[0], "action": "JUMP"}]}'),
        "illegal",
        "round_action_invalid",
    ),
    Wrong(
        "end-of-codes",
        *late(END_OF_CODES, '{"intent": [{**intents[0], "creatureid": others[0]}]}'),
        "illegal",
        "round_intent_not_own_creature",
    ),
    Wrong(
        "end-of-codes",
        *late(END_OF_CODES, '{"intent": None}'),
        "malformed",
        "round_intent_not_set",
    ),
    Wrong(
        "end-of-codes",
        *late(END_OF_CODES, '{"error": "full"}'),
        "crashed",
        "round_error_key",
    ),
    Wrong(
        "end-of-codes",
        *late(END_OF_CODES, "os._exit(3)"),
        "disconnected",
        "round_broken_reply",
    ),
    Wrong("hexagon", *late(HEXAGON, "([0, 0], [0, 0])\n"), "illegal", "move_from [0, 0]"),
    Wrong("hexagon", *late(HEXAGON, "(None, [0, 0])\n"), "malformed", "two integers"),
    Wrong("hexagon", *late(HEXAGON, "os._exit(3)\n"), "crashed", "exit code 3"),
    Wrong("hexagon", *late(HEXAGON, "os._exit(0)\n"), "crashed", "exit code 0"),
    Wrong("paint", *late(PAINT, '{"turns_left": turn, "type": "run"}', PLAYED), "illegal", "run"),
    Wrong("paint", *late(REPLY, "sys.exit(3)", PLAYED), "crashed", "exit code 3"),
]


def cw(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), catch_exceptions=False)


def play(game: str, bot: str, *more: str) -> Result:
    option_arguments = [word for option in OPTIONS[game] for word in ("--option", option)]
    opponent = f"builtin:{OPPONENT[game]}"
    return cw("play", game, opponent, f"bad={bot}", "--seed", "3", *option_arguments, *more)


SLOW = (
    # Each turn is waited for to its end, which is that of the rules.
    Wrong("paint", *late(REPLY, 'print("hm", flush=True)', PLAYED), "malformed", "hm"),
)


@pytest.mark.parametrize(
    "wrong",
    [
        *WRONG,
        *(
            pytest.param(wrong, marks=[pytest.mark.thorough, pytest.mark.limits_of_the_rules])
            for wrong in SLOW
        ),
    ],
    ids=lambda wrong: f"{wrong.game}-{wrong.new[-40:]}",
)
def test_a_fault_is_told_everywhere_as_what_it_is(wrong: Wrong, tmp_path: Path) -> None:
    bot, file = wrong.source(tmp_path), tmp_path / "replay.json"
    played = play(wrong.game, bot, "--json", "--out", str(file))
    assert played.exit_code == 0
    report = json.loads(played.stdout)
    faults = report["players"][1]["faults"]
    assert report["players"][0]["faults"] == []
    assert_explained(wrong, faults)
    assert json.loads(file.read_text("utf-8"))["faults"] == faults
    assert cw("replay", "verify", str(file)).exit_code == 0
    checked = cw("check", wrong.game, f"bad={bot}", "--json")
    assert checked.exit_code == 1
    failed = [step for line in checked.stdout.splitlines() if not (step := json.loads(line))["ok"]]
    assert len(failed) == 1
    assert wrong.detail in failed[0]["problem"]
    assert wrong.kind in failed[0]["problem"]


def assert_explained(wrong: Wrong, faults: list[dict[str, Any]]) -> None:
    """The fault was told in a late turn, each once."""
    assert faults
    assert all(fault["turn"] >= LATE - 1 for fault in faults)
    assert faults[0]["kind"] == wrong.kind
    assert wrong.detail in faults[0]["detail"]
    turns = [(fault["turn"], fault["kind"]) for fault in faults]
    assert len(set(turns)) == len(turns)
    if wrong.kind in ("crashed", "disconnected"):
        ended = [fault for fault in faults if wrong.detail in fault["detail"]]
        assert len(ended) == 1


@pytest.mark.parametrize("game", GAMES)
def test_people_are_told_the_same(game: str, tmp_path: Path) -> None:
    wrong = next(wrong for wrong in WRONG if wrong.game == game)
    bot = wrong.source(tmp_path)
    played = play(game, bot, "--no-replay")
    assert played.exit_code == 0
    assert f"bad: {wrong.kind}: " in played.stderr
    assert wrong.detail in played.stderr
    checked = cw("check", game, f"bad={bot}")
    assert checked.exit_code == 1
    assert wrong.detail in checked.stdout
    assert wrong.kind in checked.stdout.splitlines()[-1]


STARTS = {
    "circuit-wars": ("startup", "exit code 1"),
    "code-battle": ("startup", "exit code 1"),
    "end-of-codes": ("startup", "initiate_could_not_connect"),
    "hexagon": ("startup", "exit code 1"),
    "paint": ("startup", "exit code 1"),
}
"""What is told of a program that does not start."""


@pytest.mark.parametrize("game", GAMES)
def test_a_program_that_does_not_start_is_one_fault(game: str, tmp_path: Path) -> None:
    kind, detail = STARTS[game]
    bot = tmp_path / "bot.py"
    bot.write_text("def broken(:\n")
    played = play(game, str(bot), "--json", "--no-replay")
    assert played.exit_code == 1
    faults = json.loads(played.stdout)["players"][1]["faults"]
    faults = [fault for fault in faults if "faults in a row" not in fault["detail"]]
    assert [fault["kind"] for fault in faults] == [kind]
    assert detail in faults[0]["detail"]
    assert "SyntaxError" in faults[0]["detail"]
    checked = cw("check", game, f"bad={bot}")
    assert checked.exit_code == 1
    # In the sentence, and in what the program wrote.
    assert checked.stdout.count("SyntaxError") == 2
    assert checked.stdout.count("FAILED") == 1
    assert "status 200" not in checked.stdout
    assert "fix: correct the line named above" in checked.stdout


UNREACHED = {
    "code-battle": ("startup", "GET /health: nothing listens at 127.0.0.1:9"),
    "end-of-codes": ("startup", "initiate_could_not_connect"),
    "hexagon": ("disconnected", "nothing listens at 127.0.0.1:9"),
}


@pytest.mark.parametrize("game", UNREACHED)
def test_a_bot_that_is_not_there_is_one_fault(game: str) -> None:
    kind, detail = UNREACHED[game]
    secret = ("--set", "bad.secret=abc") if game == "code-battle" else ()
    played = play(game, "http://127.0.0.1:9", "--json", "--no-replay", *secret)
    faults = json.loads(played.stdout)["players"][1]["faults"]
    last_faults = [fault for fault in faults if "faults in a row" in fault["detail"]]
    assert [fault["kind"] for fault in last_faults] == ["crashed"] * (game == "code-battle")
    faults = [fault for fault in faults if fault not in last_faults]
    assert [(fault["turn"], fault["kind"]) for fault in faults] == [(0, kind)]
    assert detail in faults[0]["detail"]


def test_lines_that_are_no_answers_are_counted_and_told_once(tmp_path: Path) -> None:
    chatting = (REPLY, f'print("thinking", flush=True); {REPLY}')
    bot = write(tmp_path, SOURCES["paint"], chatting)
    played = play("paint", bot, "--json", "--out", str(tmp_path / "replay.json"))
    (fault,) = json.loads(played.stdout)["players"][1]["faults"]
    assert (fault["turn"], fault["kind"]) == (0, "malformed")
    assert fault["detail"] == (
        "the program printed 12 lines that are not answers, the first of them: 'thinking';"
        " print debug output to standard error"
    )
    replay = json.loads((tmp_path / "replay.json").read_text("utf-8"))
    assert all(
        turn["actions"]["bad"] == {"type": "walk", "direction": [1, 0]} for turn in replay["turns"]
    )


RAISES = "class Bot:\n    def act(self, view):\n        1 / 0\n"
CLAIMS = "class Bot:\n    def act(self, view):\n        return {'fault': 'timeout'}\n"


@pytest.mark.parametrize(
    ("game", "source", "kind", "detail"),
    [
        ("end-of-codes", RAISES, "crashed", "round_exception: "),
        ("end-of-codes", CLAIMS, "malformed", "round_invalid_json: "),
        ("hexagon", RAISES, "crashed", "ZeroDivisionError"),
        ("hexagon", CLAIMS, "malformed", "must not have the key fault"),
    ],
)
def test_a_class_cannot_hide_what_it_does(
    game: str, source: str, kind: str, detail: str, tmp_path: Path
) -> None:
    bot, file = tmp_path / "bot.py", tmp_path / "replay.json"
    bot.write_text(source)
    played = play(game, f"python:{bot}", "--json", "--out", str(file))
    (fault,) = json.loads(played.stdout)["players"][1]["faults"]
    assert fault["kind"] == kind
    assert detail in fault["detail"]
    assert cw("replay", "verify", str(file)).exit_code == 0


def test_a_header_that_is_no_text_ends_nothing(tmp_path: Path) -> None:
    line = 'self.send_header("Content-Type", "application/json")'
    wrong = f'{line}\n        self.send_header("Content-Encoding", "\\xff")'
    bot = write(tmp_path, SOURCES["hexagon"], (line, wrong))
    played = play("hexagon", bot, "--json", "--no-replay")
    (fault,) = json.loads(played.stdout)["players"][1]["faults"]
    assert fault["kind"] == "malformed"
    assert "compressed" in fault["detail"]


def test_what_bots_write_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    escape = 'print("\\x1b[2Jred", file=sys.stderr); sys.exit("\\x1b]0;title\\x07")'
    bot = write(tmp_path, SOURCES["paint"], late(REPLY, escape, PLAYED))
    played = play("paint", bot, "--no-replay")
    checked = cw("check", "paint", f"bad={bot}")
    for output in (played.output, checked.output):
        assert "\x1b" not in output
        assert "\\x1b]0;title\\x07" in output


def test_a_replay_names_no_folder_of_this_machine(tmp_path: Path) -> None:
    bot = write(tmp_path, SOURCES["paint"], late(REPLY, "1 / 0", PLAYED))
    file = tmp_path / "replay.json"
    for sandbox in ("auto", "off"):
        played = play("paint", bot, "--out", str(file), "--sandbox", sandbox)
        assert "ZeroDivisionError" in played.stderr
        text = file.read_text("utf-8")
        assert json.loads(text)["players"][1]["bot"] == "exec:python bot.py"
        assert str(tmp_path) not in text
        assert sys.prefix not in text
        assert gettempdir() not in text
