"""`cw check` on bots that are wrong in ten ways: what it says must lead to the mistake."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from flask import Flask, Response, jsonify, request

from cw.arena.bots import read_bots
from cw.arena.launch import with_secrets
from cw.cli import main
from cw.games.end_of_codes.protocol import TEXTS
from cw.games.registry import load_checks
from cw.games.wire import Trial
from cw.matches.check import (
    EXITED,
    PROTOCOL,
    RAISED,
    SEGFAULT,
    UNNAMED,
    Attempt,
    Candidate,
    Finding,
    junit,
    own_mistake,
    probe,
)
from cw.matches.check import check as try_bot
from cw.matches.spec import Isolation
from tests import seed_clients
from tests.documented import programs
from tests.fixtures import Serve
from tests.interpreter import PYTHON
from tests.matches.bots_of_games import HEXAGON, PAINT, served, write
from tests.tools import needs_language


def check(game: str, bot: str, *more: str) -> tuple[Result, list[dict[str, Any]]]:
    result = CliRunner().invoke(main, ["check", game, bot, "--json", *more])
    assert result.exit_code in (0, 1), result.output + result.stderr
    steps = [json.loads(line) for line in result.stdout.splitlines()]
    assert (result.exit_code == 1) == any(map(has_failed, steps))
    return result, steps


def has_failed(step: dict[str, Any]) -> bool:
    return not step["ok"] and "warning" not in step


def failed(steps: list[dict[str, Any]]) -> str:
    return " | ".join(
        f"{step['step']}: {step['problem']} -> {step['fix']}" for step in filter(has_failed, steps)
    )


@pytest.mark.thorough
@pytest.mark.usefixtures("patient_painters")
@pytest.mark.parametrize(
    ("game", "strategy", "least"),
    [("paint", "greedy", 10), ("hexagon", "greedy", 15), ("code-battle", "gatherer", 14)],
)
def test_a_good_bot_is_fine(game: str, strategy: str, least: int) -> None:
    _, steps = check(game, served(game, strategy))
    assert failed(steps) == ""
    assert len(steps) >= least


@pytest.mark.usefixtures("patient_painters")
def test_a_bot_that_speaks_no_protocol_plays_the_games_only(tmp_path: Path) -> None:
    source = (
        "class Bot:\n    def act(self, view):\n        return {'type': %r, 'direction': [0, 1]}\n"
    )
    bot = tmp_path / "mine.py"
    bot.write_text(source % "walk")
    _, steps = check("paint", f"python:{bot}")
    assert failed(steps) == ""
    bot.write_text(source % "run")
    _, steps = check("paint", f"python:{bot}")
    assert "illegal" in failed(steps)
    _, steps = check("hexagon", "builtin:random")
    assert failed(steps) == ""


def test_the_function_of_the_page_is_fine(tmp_path: Path) -> None:
    bot = tmp_path / "agent.py"
    bot.write_text(programs("commands.md")["agent.py"])
    _, steps = check("code-battle", f"python:{bot}")
    assert failed(steps) == ""


def test_a_build_server_is_told_each_step(tmp_path: Path) -> None:
    file = tmp_path / "check.xml"
    _, steps = check("hexagon", "builtin:constant", "--junit", str(file))
    (suite,) = ElementTree.parse(file).getroot()
    assert suite.attrib["name"] == "cw check hexagon builtin:constant"
    assert suite.attrib["tests"] == str(len(steps))
    assert suite.attrib["failures"] == "1"
    assert [case.attrib for case in suite] == [
        {"classname": "cw.hexagon", "name": step["step"]} for step in steps
    ]
    (failure,) = suite.iter("failure")
    assert failure.attrib["message"].startswith("illegal in turn")
    assert failure.text == f"{steps[-1]['problem']}\nfix: {steps[-1]['fix']}"
    _, steps = check("hexagon", "builtin:random", "--junit", str(file))
    (suite,) = ElementTree.parse(file).getroot()
    assert [case.attrib["name"] for case in suite] == [step["step"] for step in steps]
    assert suite.find(".//failure") is None


def test_text_that_no_document_may_hold_is_replaced() -> None:
    finding = Finding("a\x00b\ud800", "\ufffe\x1b]0;<&>", "fix\uffff", "\x08")
    document = junit("paint", read_bots(["builtin:random"]).bots[0], [finding])
    (case,) = ElementTree.fromstring(document)[0]
    assert case.attrib["name"] == "a\\x00b\\ud800"
    assert case[0].text == "\ufffd\\x1b]0;<&>\nfix: fix\ufffd"


def test_a_report_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    file = tmp_path / "missing" / "check.xml"
    result = CliRunner().invoke(main, ["check", "paint", "builtin:random", "--junit", str(file)])
    assert result.exit_code == 1
    assert "check.xml cannot be written" in result.stderr
    result = CliRunner().invoke(main, ["check", "paint", "nowhere.py", "--junit", "check.xml"])
    assert result.exit_code == 2
    assert not Path("check.xml").exists()


@pytest.mark.thorough
def test_end_of_codes_begins_with_the_checks_of_its_seed() -> None:
    _, steps = check("end-of-codes", served("end-of-codes", "sample"))
    assert failed(steps) == ""
    assert [step["step"] for step in steps[:7]] == [
        "has a host name",
        "is reachable",
        "accepts connections",
        "answers GET /bot",
        "answers in JSON",
        "says botname, version and username",
        "says the right username",
    ]
    _, steps = check("end-of-codes", "http://127.0.0.1:9")
    assert [step["ok"] for step in steps] == [True, True, False]
    assert TEXTS[2] in steps[2]["problem"]


def test_a_web_service_without_its_secret_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPTY", "")
    service = "me=http://127.0.0.1:9"
    for extra_arguments in ([], ["--set", "me.secret=env:EMPTY"], ["--set", "me.username=me"]):
        for command in (["check", "code-battle"], ["play", "code-battle", "builtin:random"]):
            result = CliRunner().invoke(main, [*command, service, *extra_arguments])
            assert result.exit_code == 2
            assert "--set me.secret=env:BOT_SECRET" in result.stderr
            assert result.stdout == ""


def test_a_bot_of_end_of_codes_that_checks_its_key_is_told_how_to_give_it(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Flask(__name__)

    @app.get("/bot")
    def bot() -> Response:
        right = request.args["api_key"] == "abc"
        named = {"botname": "x", "version": "1", "username": "alice"}
        return jsonify(named) if right else Response(status=401)

    address = serve(app)
    monkeypatch.setenv("KEY", "abc")
    _, steps = check("end-of-codes", address)
    assert "--set NAME.api_key=env:VAR" in failed(steps)
    _, steps = check("end-of-codes", address, "--set", f"{address[7:]}.api_key=env:KEY")
    assert "put USERNAME= before the bot" in failed(steps)
    _, steps = check("end-of-codes", f"alice={address}", "--set", "alice.api_key=env:KEY")
    assert failed(steps).startswith("takes POST /game")


WRONG_PAINT = [
    ('"turns_left": turn,', '"turns_left": turn - 1,', "copy turns_left"),
    ('"type": "walk"', '"type": "run"', '"walk" or "shoot"'),
    ("print(json.dumps(answer), flush=True)", "print(json.dumps(answer))", "flush"),
    ("print('{\"ready\":true}', flush=True)", "pass", "ready"),
    ("import json, sys", "import json, sys; sys.stdout = open('/dev/null', 'w')", "ready"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), WRONG_PAINT)
def test_what_is_wrong_with_a_bot_of_paint_is_said(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    changes = [(old, new)]
    if sentence == "flush":
        # Python flushes at once under PYTHONUNBUFFERED; other languages do not.
        changes.append(("import json, sys", "import json, sys; sys.stdout = open(1, 'w')"))
        changes.append(
            ("print('{\"ready\":true}', flush=True)", "print('{\"ready\":true}', flush=True)")
        )
    _, steps = check("paint", write(tmp_path, PAINT, *changes))
    assert sentence in failed(steps)


WRONG_HEXAGON = [
    (
        'self.reply({"status": "ok"})\n\n    def do_GET',
        "self.reply({})\n\n    def do_GET",
        "takes POST",
    ),
    ('{"status": "ok", "move_from"', '{"status": "ok", "from"', "move_from"),
    ("GAMES[self.game()][i][j] = new", "pass", "apply every change"),
    ("self.send_response(status)", "self.send_response(status + 300)", "HTTP status 500"),
    ("start, target = choose", "target, start = choose", "holds no chip"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), WRONG_HEXAGON)
def test_what_is_wrong_with_a_bot_of_hexagon_is_said(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    _, steps = check("hexagon", write(tmp_path, HEXAGON, (old, new)))
    assert sentence in failed(steps)


UNASKED = {
    "drops": (
        'return self.reply({"status": "error"}, 404)',
        "return self.connection.close()",
        "refuses an unknown battle",
    ),
    "accepts": (
        'return self.reply({"status": "error"}, 404)',
        "return self.reply({})",
        "refuses an unknown battle",
    ),
    "refuses a known id": (
        'GAMES[said["id"]] = said["board"]["cells"]',
        'if said["id"] in GAMES: return self.reply({"status": "known"}, 409)\n'
        '        GAMES[said["id"]] = said["board"]["cells"]',
        "starts a known id afresh",
    ),
}
"""By what a bot does that no server asks of it, and the step that notes it."""


@pytest.mark.parametrize("habit", UNASKED)
def test_what_no_server_asks_of_a_bot_of_hexagon_is_only_noted(tmp_path: Path, habit: str) -> None:
    old, new, step = UNASKED[habit]
    bot, report = write(tmp_path, HEXAGON, (old, new)), tmp_path / "report.xml"
    result = CliRunner().invoke(main, ["check", "hexagon", bot, "--junit", str(report)])
    assert result.exit_code == 0, result.stdout
    lines = result.stdout.splitlines()
    assert f"note    {step}" in lines
    assert lines[-1] == "all fine, with 1 note"
    suites = ElementTree.parse(report).getroot()
    assert suites.attrib["failures"] == "0"
    (output,) = suites.iterfind(".//system-out")
    assert str(output.text).startswith("note: ")


def test_an_answer_that_is_no_move_fails_once_whatever_was_asked(tmp_path: Path) -> None:
    # The sixth move is that after a known id.
    begins, fails = "def choose(cells, color):\n", "    if len(CALLS) > 5: return 0, 0\n"
    changed = f"CALLS = []\n\n{begins}    CALLS.append(color)\n{fails}"
    _, steps = check("hexagon", write(tmp_path, HEXAGON, (begins, changed)))
    assert [step for step in steps if step.get("warning")] == []
    assert steps[-1]["step"] == "starts a known id afresh"
    assert "malformed" in failed(steps)


def test_the_unchanged_bot_of_hexagon_is_fine(tmp_path: Path) -> None:
    _, steps = check("hexagon", write(tmp_path, HEXAGON))
    assert failed(steps) == ""


def test_a_bot_of_code_battle_without_the_secret_fails_at_its_signature() -> None:
    command = [sys.executable, "-m", "cw", "bots", "serve", "code-battle", "random"]
    environment = {**os.environ, "BOT_SECRET": "another"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().removeprefix("listening on ").strip()
            _, steps = check("code-battle", f"a={address}", "--set", "a.secret=mine")
        finally:
            server.terminate()
    assert "refused our signature (HTTP status 401): does it have" in failed(steps)


def test_the_words_are_for_people(tmp_path: Path) -> None:
    bot = write(tmp_path, PAINT, ('"type": "walk"', '"type": "run"'))
    result = CliRunner().invoke(main, ["check", "paint", bot])
    assert result.exit_code == 1
    assert "ok      says that it is ready" in result.stdout
    assert "FAILED  answers a state" in result.stdout
    assert "fix: " in result.stdout


def test_a_client_of_circuit_wars_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CW_PAUSE", "0")
    root = Path(__file__).resolve().parents[3]
    _, steps = check("circuit-wars", f"me=exec:{PYTHON} {shlex.quote(str(root / 'game_ai.py'))}")
    assert failed(steps) == ""


CLIENTS = [
    ("game_ai.py", seed_clients.QUICK_PYTHON),
    pytest.param(
        "bot.js",
        seed_clients.QUICK_JAVASCRIPT,
        marks=needs_language("javascript"),
    ),
]
JUDGED = ["plays a whole match as player 1", "plays as player 2"]


@pytest.mark.parametrize(("file", "source"), CLIENTS)
def test_a_client_that_knows_no_board_but_that_of_the_assignment_is_fine(
    tmp_path: Path, file: str, source: str
) -> None:
    (tmp_path / file).write_text(source)
    report = tmp_path / "check.xml"
    bot = str(tmp_path / file)
    result = CliRunner().invoke(main, ["check", "circuit-wars", bot, "--junit", str(report)])
    assert result.exit_code == 0, result.output + result.stderr
    ok = [line.split(maxsplit=1)[1] for line in result.stdout.splitlines() if line[:2] == "ok"]
    assert ok[:2] == JUDGED
    assert "note    plays on the smallest board\n        turn 1: crashed: " in result.stdout
    assert "FAILED" not in result.stdout
    assert result.stdout.endswith("all fine, with 3 notes\n")
    (suite,) = ElementTree.parse(report).getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("6", "0")
    noted = [case.attrib["name"] for case in suite if case.find("system-out") is not None]
    assert len(noted) == 3


def test_a_note_is_a_warning_for_programs(tmp_path: Path) -> None:
    (tmp_path / "game_ai.py").write_text(seed_clients.QUICK_PYTHON)
    bot = str(tmp_path / "game_ai.py")
    result = CliRunner().invoke(main, ["check", "circuit-wars", bot, "--json"])
    assert result.exit_code == 0
    steps = [json.loads(line) for line in result.stdout.splitlines()]
    assert [step for step in steps[:2] if step != {"step": step["step"], "ok": True}] == []
    notes = [step for step in steps if not step["ok"]]
    assert [step["warning"] for step in notes] == [True] * 3
    assert all("7 x 7" in step["fix"] for step in notes)


@pytest.mark.parametrize(
    ("old", "new", "step"),
    [
        ("range(7)", "range(8)", JUDGED[0]),
        ('status["status_code"] == 200 + player', 'status["status_code"] == 201', JUDGED[1]),
    ],
)
def test_a_client_that_cannot_play_the_board_of_the_assignment_has_failed(
    tmp_path: Path, old: str, new: str, step: str
) -> None:
    assert old in seed_clients.QUICK_PYTHON
    (tmp_path / "game_ai.py").write_text(seed_clients.QUICK_PYTHON.replace(old, new))
    _, steps = check("circuit-wars", str(tmp_path / "game_ai.py"))
    assert [found["step"] for found in steps if not found["ok"]] == [step]
    assert steps[-1]["step"] == step


def test_a_bot_that_is_checked_for_a_contest_plays_the_boards_of_that(tmp_path: Path) -> None:
    (tmp_path / "game_ai.py").write_text(seed_clients.QUICK_PYTHON)
    (bot,) = read_bots([str(tmp_path / "game_ai.py")]).bots
    candidate = Candidate("circuit-wars", bot, {}, Isolation(), {"size": 5})
    (finding,) = try_bot(candidate)
    assert (finding.name, finding.failed) == (JUDGED[0], True)


def test_the_pauses_of_a_client_leave_its_check_within_a_minute() -> None:
    def turns_of(trial: Trial) -> int:
        size = int(trial.options["size"])
        segments = 2 * size * (size + 1) - int(trial.options.get("openings", 0))
        return len(trial.seats) * min(segments, trial.turns or segments)

    trials = load_checks("circuit-wars").trials
    assert trials[0].options == {"size": 7, "openings": 0}
    # In each of its turns, every second one, a client asks for the status, and moves.
    assert sum(map(turns_of, trials)) / 2 * 2 * 0.2 < 50


def test_it_is_told_what_is_tried() -> None:
    (bot,) = read_bots(["builtin:random"]).bots
    tried: list[Attempt] = []
    candidate = Candidate("hexagon", bot, {}, Isolation())
    names = [finding.name for finding in try_bot(candidate, tried.append)]
    assert tried == [Attempt(name, number, 5) for number, name in enumerate(names, 1)]
    (bot,) = read_bots(["http://127.0.0.1:9"]).bots
    tried.clear()
    (finding,) = try_bot(replace(candidate, bot=bot), tried.append)
    assert finding.brief == "disconnected"
    assert tried == [Attempt(PROTOCOL, 1, 16)]


HOLDING = "import sys\nfor line in sys.stdin:\n    print('{\"moves\": []}', flush=True)\n"
STEPS = [
    pytest.param("code-battle", "gatherer", 16, marks=pytest.mark.thorough),
    pytest.param("end-of-codes", "sample", 14, marks=pytest.mark.thorough),
    pytest.param("hexagon", "random", 16, marks=pytest.mark.thorough),
    ("code-battle", "lines", 8),
    ("paint", "greedy", 10),
]


@pytest.mark.usefixtures("patient_painters")
@pytest.mark.parametrize(("game", "strategy", "total"), STEPS)
def test_each_game_says_how_many_steps_it_asks(
    game: str, strategy: str, total: int, tmp_path: Path
) -> None:
    lines = strategy == "lines"
    bot = write(tmp_path, HOLDING) if lines else served(game, strategy)
    settings = ["me.form=lines"] if lines else []
    arguments = read_bots([f"me={bot}"], settings)
    tried: list[Attempt] = []
    bot_spec = arguments.bots[0]
    secrets = {"me": {**with_secrets(bot_spec).settings}}
    steps = asyncio.run(probe(Candidate(game, bot_spec, secrets, Isolation()), tried.append))
    assert [step.problem for step in steps] == [None] * len(steps)
    assert {attempt.total for attempt in tried} == {total}
    assert len(steps) == total - len(load_checks(game).trials)
    assert [attempt.number for attempt in tried] == list(range(1, len(steps) + 2))


RAISING = (
    'GAMES[said["id"]] = said["board"]["cells"]',
    'GAMES[said["id"]] = {}["cells"] if len(GAMES) > 1 else said["board"]["cells"]',
)
"""A mistake that shows in the third POST alone."""


def words_of(game: str, bot: str) -> list[str]:
    result = CliRunner().invoke(main, ["check", game, bot])
    assert result.exit_code == 1
    return [line for line in result.stdout.splitlines() if not line.startswith("ok ")]


def test_one_mistake_is_one_failure_with_its_cause_first(tmp_path: Path) -> None:
    failed_step, problem, fix, last = words_of("hexagon", write(tmp_path, HEXAGON, RAISING))
    assert failed_step == "FAILED  starts a known id afresh"
    assert problem.endswith("the answer to POST /games was complete")
    assert "connection" in fix
    assert last.startswith("1 failed: starts a known id afresh: disconnected; 7 more steps run")


def test_an_exception_that_a_web_service_tells_stands_in_the_problem(tmp_path: Path) -> None:
    raising = (
        "start, target = choose(GAMES[self.game()], int(self.path[-1]))",
        "return self.reply('KeyError: 7 (bot.py, line 12)\\n', 500)",
    )
    failed_step, problem, fix, last = words_of("hexagon", write(tmp_path, HEXAGON, raising))
    assert failed_step == "FAILED  gives a legal move"
    assert "HTTP status 500, expected 200: " in problem
    assert "KeyError: 7 (bot.py, line 12)" in problem
    assert "correct the line named above" in fix
    assert last.endswith("; 14 more steps run once this is fixed")


def test_an_exception_that_a_service_only_writes_stands_in_the_problem(tmp_path: Path) -> None:
    raising = (
        "start, target = choose(GAMES[self.game()], int(self.path[-1]))",
        "return self.failing()",
    )
    failing = (
        "    def game(self):",
        """    def failing(self):
        import traceback
        try:
            {}["move"]
        except KeyError:
            traceback.print_exc()
        body = b"<!doctype html><title>500 Internal Server Error</title>"
        self.send_response(500)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def game(self):""",
    )
    _, problem, _, _ = words_of("hexagon", write(tmp_path, HEXAGON, raising, failing))
    assert re.search(
        r"HTTP status 500, expected 200: KeyError: 'move' \(bot\.py, line \d+\)$", problem
    )


def test_a_loop_without_end_is_one_failure(tmp_path: Path) -> None:
    looping = ("start, target = choose", "while True: pass\n        start, target = choose")
    _, problem, fix, _ = words_of("hexagon", write(tmp_path, HEXAGON, looping))
    assert problem.strip().startswith("timeout: connected, but no answer to GET /games/")
    assert "an endless loop" in fix


def test_the_crash_of_a_program_names_its_exception_first(tmp_path: Path) -> None:
    crashing = ('turn = state["turns_left"]', 'turn = state["turn"]')
    _, problem, *output, fix, last = words_of("paint", write(tmp_path, PAINT, crashing))
    assert problem.endswith("exited early (exit code 1): KeyError: 'turn' (bot.py, line 8)")
    assert output[1].strip() == "Traceback (most recent call last):"
    assert output[-1].strip() == "KeyError: 'turn'"
    assert "correct the line named above" in fix
    assert last == "1 failed: answers a state: crashed; 8 more steps run once this is fixed"


@pytest.mark.parametrize(
    ("game", "step"), [("hexagon", "takes POST /games"), ("code-battle", "answers GET /health")]
)
def test_nobody_is_asked_twice_where_nobody_is(game: str, step: str) -> None:
    bot = ["bad=http://127.0.0.1:9", "--set", "bad.secret=abc"]
    result = CliRunner().invoke(main, ["check", game, *bot])
    assert result.exit_code == 1
    assert result.stdout.count("nothing listens at 127.0.0.1:9") == 1
    assert "start the bot first" in result.stdout
    last = result.stdout.splitlines()[-1]
    assert last.startswith(f"1 failed: {step}: disconnected; ")


@pytest.mark.parametrize("game", ["code-battle", "end-of-codes", "hexagon", "paint"])
def test_a_program_that_exits_is_no_web_service_that_is_not_there(
    game: str, tmp_path: Path
) -> None:
    result = "\n".join(words_of(game, write(tmp_path, "import sys\nsys.exit(3)\n")))
    assert "the program exited early (exit code 3)" in result
    assert "fix: keep it running until the match is over: look for what ends it" in result
    assert "start the bot first" not in result
    assert "port forward" not in result
    assert "error output" not in result


def test_what_to_do_depends_on_how_a_program_ended() -> None:
    raised = "the program exited early (exit code 1): KeyError: 3 (a.py, line 2)"
    assert own_mistake(raised) == RAISED
    assert own_mistake("the program exited early (exit code 1): panic: x") == UNNAMED
    assert own_mistake("round_broken_reply: the program exited early (exit code 0)") == EXITED
    assert own_mistake("segmentation fault (signal SIGSEGV)") == SEGFAULT
    assert own_mistake("no line came within 0.55 s") is None
